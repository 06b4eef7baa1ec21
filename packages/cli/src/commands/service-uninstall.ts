import { rmSync } from "node:fs";
import { exitCodes } from "@herdctl/core/light";
import { type Call, textOption } from "../command.ts";
import { ownService } from "../service/own-service.ts";
import { serviceManager } from "../service/service-manager.ts";

export async function run(call: Call): Promise<number> {
  const { terminal, options, env } = call;
  const manager = serviceManager(textOption(options, "platform"));
  const { service, facts } = ownService(call, manager);
  if (service.installed) {
    await manager.check(env);
    await manager.disable(service.name, service.file, env);
    for (const file of [service.file, facts.environmentFile]) rmSync(file, { force: true });
  }
  if (terminal.json) terminal.printJson({ name: service.name, removed: service.installed });
  else {
    const { green, bold } = terminal.colors;
    const how = service.installed ? "is removed" : "is not installed";
    terminal.print(`${green("■")} ${bold(service.name)} ${how}`);
  }
  return exitCodes.success;
}
