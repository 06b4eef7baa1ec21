import type { AskPerson } from "@herdctl/core/internal";
import { approvalLines } from "./render/approval-lines.ts";
import { answerCommands } from "./render/question-lines.ts";
import { terminalStyleOf } from "./render/terminal-style.ts";
import type { Terminal } from "./terminal.ts";

/** For output without a prompt: prints the request and the commands that answer it. */
export function createAnswerHintPrinter(terminal: Terminal): AskPerson {
  return (approval, signal) => {
    const commands = answerCommands(approval).map((command) => `  ${command}`);
    for (const line of [...approvalLines(approval, terminalStyleOf(terminal)), ...commands])
      terminal.printNote(line);
    return new Promise((_, reject) => {
      signal.addEventListener("abort", () => reject(new Error("answered elsewhere")), {
        once: true,
      });
    });
  };
}
