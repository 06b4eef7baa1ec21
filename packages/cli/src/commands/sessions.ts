import type { SessionView, StateManager } from "@herdctl/core";
import { askFleet } from "../ask-fleet.ts";
import type { Call } from "../command.ts";
import { lookOf } from "../show/look.ts";
import { sessionTable } from "../show/session-table.ts";

export async function run(call: Call): Promise<number> {
  const { cwd, terminal } = call;
  const [agent] = call.arguments;
  const sessions = await askFleet(
    call,
    (fleet) => fleet.sessions({ agent }),
    (state) => readSessions(call, state, agent),
  );
  const now = new Date();
  if (terminal.json) terminal.printJson({ sessions });
  else if (sessions.length === 0) terminal.print(`No session${agent ? ` of ${agent}` : ""} yet.`);
  else
    for (const line of sessionTable(sessions, { now, cwd }, lookOf(terminal))) terminal.print(line);
  return 0;
}

async function readSessions(
  { env }: Call,
  state: StateManager,
  agent: string | undefined,
): Promise<SessionView[]> {
  const { knownNodeId, viewSession } = await import("@herdctl/core");
  const found = await state.sessions.list({ agent });
  const here = state.shared && knownNodeId(state.stateDir);
  return found.map((session) => viewSession(session, env, new Date(), here));
}
