import { exitCodes } from "@herdctl/core/light";
import { type Call, textOption } from "../command.ts";
import { ownService } from "../service/own-service.ts";
import { serviceManager } from "../service/service-manager.ts";

/** Ends with 3 where the service does not run. */
export async function run(call: Call): Promise<number> {
  const { terminal, options, env } = call;
  const manager = serviceManager(textOption(options, "platform"));
  const { service, facts } = ownService(call, manager);
  const { name, file, installed } = service;
  const none = { enabled: false, running: false, pid: null };
  if (installed) await manager.check(env);
  const state = installed ? await manager.state(name, env) : none;
  const advice = installed ? await manager.advice(env) : [];
  const logs = manager.logs(facts);
  if (terminal.json) terminal.printJson({ name, file, installed, ...state, advice, logs });
  else {
    const { green, red, bold, dim, yellow } = terminal.colors;
    const mark = state.running ? green("●") : red("○");
    const words = !installed
      ? "is not installed"
      : state.running
        ? `runs  ${dim(`pid ${state.pid}`)}`
        : "does not run";
    terminal.print(`${mark} ${bold(name)} ${words}`);
    if (!installed) terminal.print(dim("  install   herdctl service install"));
    else {
      terminal.print(dim(`  starts    ${state.enabled ? "by itself" : "only by hand"}`));
      terminal.print(dim(`  file      ${file}`));
      terminal.print(dim(`  logs      ${logs}`));
    }
    for (const line of advice) terminal.print(`${yellow("!")} ${line}`);
  }
  return state.running ? exitCodes.success : exitCodes.unreachable;
}
