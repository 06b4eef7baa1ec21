import { gistOf, toolName } from "../runner/gist.ts";
import type { Approval } from "../state/approval.ts";
import type { OutgoingPost } from "./connector.ts";

const longestGist = 1_200;

/** A question with its two answers; answered, with what was said. */
export function approvalPost(approval: Approval, approvers: readonly string[]): OutgoingPost {
  const { tool, input, answer } = approval;
  const gist = gistOf(tool, input, undefined).slice(0, longestGist);
  const question = `🔐 **${toolName(tool)}** wants to be used:\n\`\`\`\n${harmless(gist)}\n\`\`\``;
  if (answer !== null) return { text: `${question}\n${answerText(approval)}` };
  const where = "`herdctl approvals` on the fleet's machine";
  if (approvers.length === 0) return { text: `${question}\nIt is answered with ${where}.` };
  return {
    text: `${question}\nUntil ${approval.expires_at.slice(11, 16)} UTC; only approvers can answer.`,
    buttons: [
      { label: "Allow", value: buttonValue(approval, "allow"), style: "yes" },
      { label: "Deny", value: buttonValue(approval, "deny"), style: "no" },
    ],
  };
}

export interface PressedButton {
  approvalId: string;
  /** The beginning of the request's hash: an old button answers no other request. */
  hash: string;
  word: "allow" | "deny";
}

export function readButton(value: string): PressedButton | undefined {
  const found = /^herdctl:(approval-[a-z0-9]+):([0-9a-f]{16}):(allow|deny)$/.exec(value);
  if (!found) return undefined;
  const [, approvalId = "", hash = "", word] = found;
  return { approvalId, hash, word: word === "allow" ? "allow" : "deny" };
}

export function isBoundTo(button: PressedButton, approval: Approval): boolean {
  return approval.id === button.approvalId && approval.input_hash.startsWith(button.hash);
}

function buttonValue({ id, input_hash }: Approval, word: "allow" | "deny"): string {
  return `herdctl:${id}:${input_hash.slice(0, 16)}:${word}`;
}

function answerText({ answer, answered_by }: Approval): string {
  if (answer === "allow") return `✅ Allowed by ${answered_by ?? "somebody"}.`;
  if (answer === "deny") return `⛔ Denied by ${answered_by ?? "somebody"}.`;
  return "⌛ No longer asked.";
}

/** It must not end the block of code that it stands in. */
function harmless(text: string): string {
  return text.replaceAll("```", "'''");
}
