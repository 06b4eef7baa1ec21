import { gistOf, toolName } from "../runner/gist.ts";
import type { Approval, Word } from "../state/approval.ts";
import type { OutgoingPost } from "./connector.ts";

const longestGist = 1_200;

/** What is asked, with a button for each answer; answered, with what was said. */
export function approvalPost(approval: Approval, approvers: readonly string[]): OutgoingPost {
  const { answer, kind, id, expires_at } = approval;
  const asked = kind === "question" ? questionText(approval) : requestText(approval);
  if (answer !== null) return { text: `${asked}\n${answerText(approval)}` };
  const command = kind === "question" ? `herdctl answer ${id} …` : "herdctl approvals";
  const where = `\`${command}\` on the fleet's machine`;
  if (approvers.length === 0) return { text: `${asked}\nIt is answered with ${where}.` };
  const buttons = buttonsOf(approval);
  // Declining is the only answer that a button can give to a question in words.
  const inWords = kind === "question" && buttons.length === 1 ? ` Answer it with ${where}.` : "";
  const until = `Until ${expires_at.slice(11, 16)} UTC; only approvers can answer.`;
  return { text: `${asked}\n${until}${inWords}`, buttons };
}

function requestText({ tool, input }: Approval): string {
  const gist = gistOf(tool, input, undefined).slice(0, longestGist);
  return `🔐 **${toolName(tool)}** wants to be used:\n\`\`\`\n${harmless(gist)}\n\`\`\``;
}

function questionText({ question, choices }: Approval): string {
  const lines = (choices ?? []).map(({ label }, index) => `${index + 1}  ${label}`);
  const text = [question ?? "", ...lines].join("\n").slice(0, longestGist);
  return `❓ It asks:\n\`\`\`\n${harmless(text)}\n\`\`\``;
}

type Button = NonNullable<OutgoingPost["buttons"]>[number];

/** Both platforms show five in a row, and cut long labels. */
const mostChoices = 4;
const longestLabel = 70;

function buttonsOf(approval: Approval): Button[] {
  const no = (label: string): Button => ({
    label,
    value: buttonValue(approval, "deny"),
    style: "no",
  });
  if (approval.kind === "permission")
    return [{ label: "Allow", value: buttonValue(approval, "allow"), style: "yes" }, no("Deny")];
  const choices = approval.several ? [] : (approval.choices ?? []);
  const offered = choices.length > mostChoices ? [] : choices;
  return [
    ...offered.map(
      ({ label }, index): Button => ({
        label: label.slice(0, longestLabel),
        value: buttonValue(approval, `choice-${index}`),
        style: "yes",
      }),
    ),
    no("Decline"),
  ];
}

export interface PressedButton {
  approvalId: string;
  /** The beginning of the request's hash: an old button answers no other request. */
  hash: string;
  said: string;
}

export function readButton(value: string): PressedButton | undefined {
  const found = /^herdctl:(approval-[a-z0-9]+):([0-9a-f]{16}):(allow|deny|choice-\d)$/.exec(value);
  if (!found) return undefined;
  const [, approvalId = "", hash = "", said = ""] = found;
  return { approvalId, hash, said };
}

/** The word that a button stands for. */
export function wordOf({ said }: PressedButton, { choices }: Approval): Word {
  if (said === "allow" || said === "deny") return said;
  const chosen = choices?.[Number(said.slice("choice-".length))];
  return chosen ? { reply: chosen.label } : "deny";
}

export function isBoundTo(button: PressedButton, approval: Approval): boolean {
  return approval.id === button.approvalId && approval.input_hash.startsWith(button.hash);
}

function buttonValue({ id, input_hash }: Approval, said: string): string {
  return `herdctl:${id}:${input_hash.slice(0, 16)}:${said}`;
}

function answerText({ answer, answered_by, reply, kind }: Approval): string {
  if (answer === "allow") return `✅ Allowed by ${answered_by ?? "somebody"}.`;
  if (answer === "deny")
    return `⛔ ${kind === "question" ? "Declined" : "Denied"} by ${answered_by ?? "somebody"}.`;
  if (answer === "reply") return `✅ ${answered_by ?? "Somebody"}: ${harmless(reply ?? "")}`;
  return "⌛ No longer asked.";
}

/** It must not end the block of code that it stands in. */
function harmless(text: string): string {
  return text.replaceAll("```", "'''");
}
