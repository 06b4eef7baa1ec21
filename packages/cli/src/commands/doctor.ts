import {
  type Check,
  examine,
  findFleetFile,
  loadFleet,
  stateDirOf,
  UserError,
} from "@herdctl/core";
import { type Call, textOption } from "../command.ts";
import { findAgent } from "../named-agent.ts";
import { checkLines } from "../show/check-lines.ts";
import { listenForStop } from "../stop-signals.ts";

export async function run(call: Call): Promise<number> {
  const { terminal } = call;
  const stop = listenForStop(() => undefined);
  const checks: Check[] = [];
  try {
    for await (const check of examine({ ...whatToExamine(call), signal: stop.signal })) {
      checks.push(check);
      if (!terminal.json) checkLines(check, terminal.colors).forEach(terminal.print);
    }
  } finally {
    stop.dispose();
  }
  const isWell = checks.every(({ verdict }) => verdict !== "failed");
  if (terminal.json) terminal.printJson({ ok: isWell, checks });
  return isWell ? 0 : 1;
}

/** Outside a fleet there are no agents, but still an engine and an image. */
function whatToExamine({ arguments: [name], options, cwd, env }: Call) {
  const config = textOption(options, "config");
  const file = fleetFile(config, cwd, name !== undefined);
  if (file === undefined) return { env, stateDir: cwd, agents: [] };
  const { fleet, environment } = loadFleet(file, env);
  const agents = name === undefined ? fleet.agents : [findAgent(name, fleet)];
  return { env: environment, stateDir: stateDirOf(file), agents };
}

function fleetFile(config: string | undefined, cwd: string, isNeeded: boolean): string | undefined {
  try {
    return findFleetFile({ config, cwd });
  } catch (error) {
    const isNone = error instanceof UserError && error.code === "config_not_found";
    if (isNone && config === undefined && !isNeeded) return undefined;
    throw error;
  }
}
