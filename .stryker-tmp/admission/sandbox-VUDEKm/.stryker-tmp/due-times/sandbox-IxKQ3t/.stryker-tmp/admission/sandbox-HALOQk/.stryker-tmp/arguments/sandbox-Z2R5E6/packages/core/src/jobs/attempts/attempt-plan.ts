import { type Job, type OutcomeCode, outcomes } from "@herdctl/protocol";
import { readSessionFile } from "../../claude/session-files/follow-session-file.ts";
import { blocksOf } from "../../claude/session-files/line-fields.ts";
import { roleOf } from "../../claude/session-files/line-role.ts";
import { type SessionHome, sessionFilePath } from "../../claude/session-files/session-file-path.ts";
import type { SessionLine } from "../../claude/session-files/session-line.ts";
import type { StateManager } from "../../store/state-manager.ts";

/** The state that earlier attempts of a job left in their session. */
export interface PriorAttempts {
  sessionId: string;
  /** Messages of this job, without earlier messages of the session. */
  messageCount: number;
  /** The model's context still contains the task. */
  hasTask: boolean;
  /** How the last attempt ended. */
  lastOutcome: OutcomeCode;
}

export type AttemptPlan =
  | { kind: "as_asked"; prompt: string }
  | { kind: "continue"; sessionId: string; prompt: string };

/**
 * The prompt of an attempt. A task that has reached the model is not sent again: a later attempt
 * continues in the same session. Effects of tools happen at least once.
 */
export function planAttempt(task: string, prior: PriorAttempts | undefined): AttemptPlan {
  if (!prior || prior.messageCount === 0) return { kind: "as_asked", prompt: task };
  const { sessionId, hasTask, lastOutcome } = prior;
  const reference = hasTask ? [] : ["", "The task, for reference:", "", quoteLines(task)];
  const prompt = [
    `Your last run of this task was interrupted. (${outcomes[lastOutcome].message})`,
    "Continue where you left off. First check what is already done, and do not repeat it.",
    ...reference,
  ].join("\n");
  return { kind: "continue", sessionId, prompt };
}

function quoteLines(task: string): string {
  return task
    .split("\n")
    .map((line) => `> ${line}`.trimEnd())
    .join("\n");
}

export interface PriorAttemptsInput {
  state: StateManager;
  job: Job;
  home: SessionHome;
}

/** Undefined on a first attempt, or if earlier attempts opened no session. */
export async function readPriorAttempts(
  input: PriorAttemptsInput,
): Promise<PriorAttempts | undefined> {
  const { state, job, home } = input;
  if (job.started_at === null) return undefined;
  const attempts = await state.jobs.listAttempts(job.id);
  const sessionId = attempts.findLast((attempt) => attempt.session_id !== null)?.session_id;
  const session = sessionId ?? job.session_id;
  if (!session) return undefined;
  const file = sessionFilePath(home, session);
  const found = await readPriorMessages(file, Date.parse(job.started_at), job.prompt);
  const lastOutcome = attempts.at(-1)?.outcome_code ?? "interrupted";
  return { sessionId: session, ...found, lastOutcome };
}

async function readPriorMessages(
  file: string,
  since: number,
  task: string,
): Promise<Pick<PriorAttempts, "messageCount" | "hasTask">> {
  const found = { messageCount: 0, hasTask: false };
  for await (const { line, subagent } of readSessionFile(file)) {
    if (subagent || !(Date.parse(line.timestamp ?? "") >= since)) continue;
    const role = roleOf(line);
    // After compaction, earlier messages are in the context only as a summary.
    if (role === "compact_boundary") found.hasTask = false;
    if (!conversationRoles.has(role)) continue;
    found.messageCount += 1;
    if (role === "prompt" && messageText(line).includes(task.trim())) found.hasTask = true;
  }
  return found;
}

const conversationRoles = new Set(["prompt", "assistant", "tool_result"]);

function messageText({ message }: SessionLine): string {
  if (typeof message?.content === "string") return message.content;
  return blocksOf(message, "text")
    .map((block) => String(block.text))
    .join("\n");
}
