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
  const asking = new AbortController();
  const withdraw = () => asking.abort();
  signal.addEventListener("abort", withdraw, { once: true });
  try {
    const prompt = approval.kind === "question" ? askQuestion : askPermission;
    const said: Said = await prompt(approval, asking.signal);
    if (said !== "left") return said;
    // While a question is asked Ctrl-C comes as a key; it means the same as ever.
    if (!signal.aborted) process.kill(process.pid, "SIGINT");
    return "deny";
  } finally {
    // A prompt that is over and is aborted then takes the keys from the next one.
    signal.removeEventListener("abort", withdraw);
    live.resume();
  }
}
