import type { StateManager } from "@herdctl/core";
import type { SessionView } from "@herdctl/protocol";
import type { CommandContext } from "../command.ts";
import { queryFleetOrState } from "../query-fleet-or-state.ts";
import { readState } from "../read-state.ts";
import { sessionTableLines } from "../render/session-table.ts";
import { terminalStyleOf } from "../render/terminal-style.ts";

export async function run(context: CommandContext): Promise<number> {
  const { cwd, terminal } = context;
  const [agent] = context.arguments;
  const sessions = await queryFleetOrState(
    context,
    (fleet) => fleet.sessions.list({ agent }),
    (state) => readSessions(context, state, agent),
  );
  const now = new Date();
  const prompts = await readPrompts(context, sessions);
  if (terminal.isJson) terminal.printJson({ sessions });
  else if (sessions.length === 0) terminal.print(`No sessions${agent ? ` of ${agent}` : ""} yet.`);
  else
    for (const line of sessionTableLines(
      sessions,
      { now, cwd, prompts },
      terminalStyleOf(terminal),
    ))
      terminal.print(line);
  return 0;
}

/** The prompt of the latest job of each session. */
function readPrompts(
  context: CommandContext,
  sessions: readonly SessionView[],
): Promise<ReadonlyMap<string, string>> {
  return readState(context, async (state) => {
    const entries = sessions.map(async ({ session_id, job_id }) => {
      const job = job_id === null ? undefined : await state.jobs.get(job_id);
      return [session_id, job?.prompt ?? ""] as const;
    });
    return new Map(await Promise.all(entries));
  });
}

async function readSessions(
  { env }: CommandContext,
  state: StateManager,
  agent: string | undefined,
): Promise<SessionView[]> {
  const { readNodeId, viewSession } = await import("@herdctl/core/internal");
  const found = await state.sessions.list({ agent });
  const nodeId = state.shared && readNodeId(state.stateDir);
  return found.map((session) => viewSession(session, env, new Date(), nodeId));
}
