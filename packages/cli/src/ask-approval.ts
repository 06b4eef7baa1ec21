import type { Approval, AskPerson, Word } from "@herdctl/core";
import { askPermission, askQuestion, type Said } from "./prompts.ts";
import { approvalLines } from "./show/approval-lines.ts";
import type { LiveJob } from "./show/live-job.ts";
import type { Look } from "./show/look.ts";

/** Puts what is asked before the person at the terminal, one after the other. */
export function askInTerminal(live: LiveJob, look: Look): AskPerson {
  let last: Promise<unknown> = Promise.resolve();
  return (approval, signal) => {
    const answer = last.then(() => ask(approval, signal, live, look));
    last = answer.catch(() => undefined);
    return answer;
  };
}

async function ask(
  approval: Approval,
  signal: AbortSignal,
  live: LiveJob,
  look: Look,
): Promise<Word> {
  if (signal.aborted) return "deny";
  live.pause(approvalLines(approval, look));
  try {
    const prompt = approval.kind === "question" ? askQuestion : askPermission;
    const said: Said = await prompt(approval, signal);
    if (said !== "left") return said;
    // While a question is asked Ctrl-C comes as a key; it means the same as ever.
    if (!signal.aborted) process.kill(process.pid, "SIGINT");
    return "deny";
  } finally {
    live.resume();
  }
}
