import { viewSession } from "@herdctl/core";
import type { Call } from "../command.ts";
import { readState } from "../read-state.ts";
import { lookOf } from "../show/look.ts";
import { sessionTable } from "../show/session-table.ts";

export async function run(call: Call): Promise<number> {
  const { cwd, env, terminal } = call;
  const [agent] = call.arguments;
  const found = await readState(call, (state) => state.sessions.list({ agent }));
  const now = new Date();
  const sessions = found.map((session) => viewSession(session, env, now));
  if (terminal.json) terminal.printJson({ sessions });
  else if (sessions.length === 0) terminal.print(`No session${agent ? ` of ${agent}` : ""} yet.`);
  else
    for (const line of sessionTable(sessions, { now, cwd }, lookOf(terminal))) terminal.print(line);
  return 0;
}
