import { exitCodes } from "@herdctl/protocol";
import { type CommandContext, textOption } from "../command.ts";
import { loadOwnService } from "../service/load-own-service.ts";
import { selectServiceManager } from "../service/select-service-manager.ts";

/** Exits with 3 if the service is not running. */
export async function run(context: CommandContext): Promise<number> {
  const { terminal, options, env } = context;
  const manager = selectServiceManager(textOption(options, "platform"));
  const { service, facts } = loadOwnService(context, manager);
  const { name, file, isInstalled } = service;
  const stoppedState = { enabled: false, running: false, pid: null };
  if (isInstalled) await manager.assertAvailable(env);
  const state = isInstalled ? await manager.readState(name, env) : stoppedState;
  const advice = isInstalled ? await manager.listAdvice(env) : [];
  const logs = manager.logsCommand(facts);
  if (terminal.isJson)
    terminal.printJson({ name, file, installed: isInstalled, ...state, advice, logs });
  else {
    const { green, red, bold, dim, yellow } = terminal.colors;
    const mark = state.running ? green("●") : red("○");
    const stateText = !isInstalled
      ? "is not installed"
      : state.running
        ? `is running  ${dim(`pid ${state.pid}`)}`
        : "is not running";
    terminal.print(`${mark} ${bold(name)} ${stateText}`);
    if (!isInstalled) terminal.print(dim("  install   herdctl service install"));
    else {
      terminal.print(dim(`  starts    ${state.enabled ? "automatically" : "manually"}`));
      terminal.print(dim(`  file      ${file}`));
      terminal.print(dim(`  logs      ${logs}`));
    }
    for (const line of advice) terminal.print(`${yellow("!")} ${line}`);
  }
  return state.running ? exitCodes.success : exitCodes.unreachable;
}
