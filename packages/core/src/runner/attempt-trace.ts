import type { Job } from "../state/job.ts";
import type { StateManager } from "../state/state-manager.ts";
import type { Trace } from "./attempt-plan.ts";
import { blocksOf } from "./runtime/session-file/details.ts";
import { readSessionFile } from "./runtime/session-file/follow.ts";
import type { SessionLine } from "./runtime/session-file/line.ts";
import { type SessionHome, sessionFilePath } from "./runtime/session-file/path.ts";
import { roleOf } from "./runtime/session-file/role.ts";

export interface TraceSources {
  state: StateManager;
  job: Job;
  home: SessionHome;
}

/** Undefined on a first attempt, and when the earlier ones came to no session. */
export async function traceOf(sources: TraceSources): Promise<Trace | undefined> {
  const { state, job, home } = sources;
  if (job.started_at === null) return undefined;
  const attempts = await state.jobs.attempts(job.id);
  const sessionId = attempts.findLast((one) => one.session_id !== null)?.session_id;
  const session = sessionId ?? job.session_id;
  if (!session) return undefined;
  const file = sessionFilePath(home, session);
  const found = await readTrace(file, Date.parse(job.started_at), job.prompt);
  const ended = attempts.at(-1)?.outcome_code ?? "interrupted";
  return { sessionId: session, ...found, ended };
}

async function readTrace(
  file: string,
  since: number,
  task: string,
): Promise<Pick<Trace, "messages" | "holdsTask">> {
  const trace = { messages: 0, holdsTask: false };
  for await (const { line, subagent } of readSessionFile(file)) {
    if (subagent || !(Date.parse(line.timestamp ?? "") >= since)) continue;
    const role = roleOf(line);
    // What was said before is then there as a summary only.
    if (role === "compact_boundary") trace.holdsTask = false;
    if (!spoken.has(role)) continue;
    trace.messages += 1;
    if (role === "prompt" && textOf(line).includes(task.trim())) trace.holdsTask = true;
  }
  return trace;
}

const spoken = new Set(["prompt", "assistant", "tool_result"]);

function textOf({ message }: SessionLine): string {
  if (typeof message?.content === "string") return message.content;
  return blocksOf(message, "text")
    .map((block) => String(block.text))
    .join("\n");
}
