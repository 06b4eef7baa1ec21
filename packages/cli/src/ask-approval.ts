import type { Approval, AskPerson } from "@herdctl/core";
import { approvalLines } from "./show/approval-lines.ts";
import type { LiveJob } from "./show/live-job.ts";
import type { Look } from "./show/look.ts";

/** Puts each request before the person at the terminal, one after the other. */
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
): Promise<"allow" | "deny"> {
  if (signal.aborted) return "deny";
  const { isCancel, select } = await import("@clack/prompts");
  live.pause(approvalLines(approval, look));
  try {
    const word = await select<"allow" | "deny">({
      message: "Allow it?",
      initialValue: "deny",
      options: [
        { value: "deny", label: "Deny" },
        { value: "allow", label: "Allow this once" },
      ],
      signal,
      withGuide: false,
    });
    if (!isCancel(word)) return word;
    // While a question is asked Ctrl-C comes as a key; it means the same as ever.
    if (!signal.aborted) process.kill(process.pid, "SIGINT");
    return "deny";
  } finally {
    live.resume();
  }
}
