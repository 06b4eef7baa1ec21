import { exitCodes } from "@herdctl/protocol";
import { type CommandContext, textOption } from "../command.ts";
import { loadOwnService } from "../service/load-own-service.ts";
import { removeService } from "../service/remove-service.ts";
import { selectServiceManager } from "../service/select-service-manager.ts";

export async function run(context: CommandContext): Promise<number> {
  const { terminal, options, env } = context;
  const manager = selectServiceManager(textOption(options, "platform"));
  const { service, facts } = loadOwnService(context, manager);
  if (service.isInstalled) {
    await removeService(manager, service, facts, env);
  }
  if (terminal.isJson) terminal.printJson({ name: service.name, removed: service.isInstalled });
  else {
    const { green, bold } = terminal.colors;
    const resultText = service.isInstalled ? "is removed" : "is not installed";
    terminal.print(`${green("■")} ${bold(service.name)} ${resultText}`);
  }
  return exitCodes.success;
}
