import type { AskPerson } from "@herdctl/core";
import { approvalLines } from "./show/approval-lines.ts";
import { lookOf } from "./show/look.ts";
import { answerCommands } from "./show/question-lines.ts";
import type { Terminal } from "./terminal.ts";

/** Where nobody can be asked on the spot: says what is asked, and how to answer it elsewhere. */
export function tellHowToAnswer(terminal: Terminal): AskPerson {
  return (approval, signal) => {
    const commands = answerCommands(approval).map((command) => `  ${command}`);
    for (const line of [...approvalLines(approval, lookOf(terminal)), ...commands])
      terminal.note(line);
    return new Promise((_, reject) => {
      signal.addEventListener("abort", () => reject(new Error("answered elsewhere")), {
        once: true,
      });
    });
  };
}
