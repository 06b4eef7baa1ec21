import { gistOf, toolName } from "../runner/gist.ts";
import type { Approval, Word } from "../state/approval.ts";
import type { ChoiceMenu, OutgoingPost } from "./connector.ts";

const longestGist = 1_200;

/** What is asked, with a button for each answer; answered, with what was said. */
export function approvalPost(approval: Approval, approvers: readonly string[]): OutgoingPost {
  const { answer, kind, id, expires_at } = approval;
  const asked = kind === "question" ? questionText(approval) : requestText(approval);
  if (answer !== null) return { text: `${asked}\n${answerText(approval)}` };
  const command = kind === "question" ? `herdctl answer ${id} …` : "herdctl approvals";
  const where = `\`${command}\` on the fleet's machine`;
  if (approvers.length === 0) return { text: `${asked}\nIt is answered with ${where}.` };
  const until = `Until ${expires_at.slice(11, 16)} UTC; only approvers can answer.`;
  const text = `${asked}\n${until}${howInWords(approval)}`;
  return { text, buttons: buttonsOf(approval), menu: menuOf(approval) };
}

function howInWords({ kind, choices, free_text }: Approval): string {
  if (kind !== "question" || !free_text) return "";
  const own = choices === null ? "Answer" : "Choose, or answer in your own words";
  return ` ${own} by a reply to this message.`;
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
const mostButtons = 4;
const mostOptions = 25;
const longestLabel = 70;

function buttonsOf(approval: Approval): Button[] {
  const no = (label: string): Button => ({
    label,
    value: buttonValue(approval, "deny"),
    style: "no",
  });
  if (approval.kind === "permission")
    return [{ label: "Allow", value: buttonValue(approval, "allow"), style: "yes" }, no("Deny")];
  const offered = wantsMenu(approval) ? [] : (approval.choices ?? []);
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

function wantsMenu({ choices, several }: Approval): boolean {
  return choices !== null && choices.length > 0 && (several || choices.length > mostButtons);
}

function menuOf(approval: Approval): ChoiceMenu | undefined {
  const { choices, several } = approval;
  if (choices === null || !wantsMenu(approval)) return undefined;
  return {
    value: buttonValue(approval, "menu"),
    several,
    options: choices.slice(0, mostOptions).map(({ label, description }) => ({
      label: label.slice(0, longestLabel),
      description: description?.slice(0, longestLabel) ?? null,
    })),
  };
}

export interface PressedButton {
  approvalId: string;
  /** The beginning of the request's hash: an old button answers no other request. */
  hash: string;
  said: string;
}

export function readButton(value: string): PressedButton | undefined {
  const found = /^herdctl:(approval-[a-z0-9]+):([0-9a-f]{16}):(allow|deny|menu|choice-\d)$/.exec(
    value,
  );
  if (!found) return undefined;
  const [, approvalId = "", hash = "", said = ""] = found;
  return { approvalId, hash, said };
}

/** The word that a button stands for, or what was chosen in a menu; none when that is nothing. */
export function wordOf(
  { said }: PressedButton,
  { choices, several }: Approval,
  chosen: readonly number[] = [],
): Word | undefined {
  if (said === "allow" || said === "deny") return said;
  const places = said === "menu" ? chosen : [Number(said.slice("choice-".length))];
  const labels = places.flatMap((place) => choices?.[place]?.label ?? []);
  if (labels.length === 0 || (labels.length > 1 && !several)) return undefined;
  return { reply: labels.join(", ") };
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
