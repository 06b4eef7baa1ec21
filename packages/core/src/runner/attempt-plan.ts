import type { OutcomeCode } from "../state/outcome.ts";
import { outcomes } from "./outcomes.ts";

/** What earlier attempts of a job left in the session they ran in. */
export interface Trace {
  sessionId: string;
  /** Messages of this job, not of what the session held before. */
  messages: number;
  /** The model can still read the task there. */
  holdsTask: boolean;
  /** How the last of them ended. */
  ended: OutcomeCode;
}

export type AttemptPlan =
  | { kind: "as_asked"; prompt: string }
  | { kind: "go_on"; sessionId: string; prompt: string };

/**
 * What an attempt tells the model. A task that has reached the model is never given to it a second
 * time: a later attempt goes on in the same session. What tools did is done at least once.
 */
export function planAttempt(task: string, trace: Trace | undefined): AttemptPlan {
  if (!trace || trace.messages === 0) return { kind: "as_asked", prompt: task };
  const { sessionId, holdsTask, ended } = trace;
  const reference = holdsTask ? [] : ["", "The task, for reference:", "", quoted(task)];
  const prompt = [
    `Your last run of this task was interrupted. (${outcomes[ended].message})`,
    "Go on where you left off. First look at what is already done; do not do again what has been done.",
    ...reference,
  ].join("\n");
  return { kind: "go_on", sessionId, prompt };
}

function quoted(task: string): string {
  return task
    .split("\n")
    .map((line) => `> ${line}`.trimEnd())
    .join("\n");
}
