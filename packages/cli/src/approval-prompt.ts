import type { AskPerson } from "@herdctl/core/internal";
import { type Approval, type ApprovalDecision, Mutex } from "@herdctl/protocol";
import { askPermission, askQuestion, type PromptResult } from "./interactive-prompts.ts";
import { approvalLines } from "./render/approval-lines.ts";
import type { LiveJobDisplay } from "./render/live-job-display.ts";
import type { TerminalStyle } from "./render/terminal-style.ts";

/** Prompts at the terminal, one approval at a time. */
export function createTerminalAsker(display: LiveJobDisplay, style: TerminalStyle): AskPerson {
  const mutex = new Mutex();
  return (approval, signal) =>
    mutex.runExclusive(() => askApproval(approval, signal, display, style));
}

async function askApproval(
  approval: Approval,
  signal: AbortSignal,
  display: LiveJobDisplay,
  style: TerminalStyle,
): Promise<ApprovalDecision> {
  if (signal.aborted) return "deny";
  display.pause(approvalLines(approval, style));
  const promptAbort = new AbortController();
  const abortPrompt = () => promptAbort.abort();
  signal.addEventListener("abort", abortPrompt, { once: true });
  try {
    const prompt = approval.kind === "question" ? askQuestion : askPermission;
    const result: PromptResult = await prompt(approval, promptAbort.signal);
    if (result !== "left") return result;
    // The prompt reads Ctrl-C as a key: raise the signal that it stands for.
    if (!signal.aborted) process.kill(process.pid, "SIGINT");
    return "deny";
  } finally {
    // Aborting a finished prompt would take the keyboard from the next one.
    signal.removeEventListener("abort", abortPrompt);
    display.resume();
  }
}
