import { type Approval, type ApprovalDecision, escapeInvisibleInline } from "@herdctl/protocol";
import type { ChoiceMenu, OutgoingPost } from "./connector.ts";

type Button = NonNullable<OutgoingPost["buttons"]>[number];

/** Both platforms allow five buttons per row and 25 options, and cut long labels. */
const maxButtons = 4;
const maxOptions = 25;
const maxLabelLength = 70;

/** One button for each answer. */
export function approvalButtons(approval: Approval): Button[] {
  const allowButton = (label: string, answer: string): Button => {
    return { label, value: buttonValue(approval, answer), style: "yes" };
  };
  if (approval.kind === "permission")
    return [allowButton("Allow", "allow"), ...denyButton(approval)];
  const offered = needsMenu(approval) ? [] : (approval.choices ?? []);
  const choices = offered.map(({ label }, index) =>
    allowButton(buttonLabel(label, index), `choice-${index}`),
  );
  return [...choices, ...denyButton(approval)];
}

/** A person who cannot see the whole request cannot allow it. */
export function denyButton(approval: Approval): Button[] {
  const label = approval.kind === "permission" ? "Deny" : "Decline";
  return [{ label, value: buttonValue(approval, "deny"), style: "no" }];
}

export function approvalMenu(approval: Approval): ChoiceMenu | undefined {
  const { choices, multiple } = approval;
  if (choices === null || !needsMenu(approval)) return undefined;
  return {
    value: buttonValue(approval, "menu"),
    allowsMultiple: multiple,
    options: choices.slice(0, maxOptions).map(({ label, description }, index) => ({
      label: buttonLabel(label, index),
      description: description === null ? null : truncate(escapeInvisibleInline(description)),
    })),
  };
}

/** Number of choices that do not fit into the menu. */
export function choicesBeyondMenu({ choices }: Pick<Approval, "choices">): number {
  return Math.max((choices ?? []).length - maxOptions, 0);
}

/** A shortened label starts with the number that the full text has in the message. */
function buttonLabel(label: string, index: number): string {
  const shown = escapeInvisibleInline(label);
  return shown.length <= maxLabelLength ? shown : truncate(`${index + 1}  ${shown}`);
}

function truncate(text: string): string {
  return text.length <= maxLabelLength ? text : `${text.slice(0, maxLabelLength - 1)}…`;
}

function needsMenu({ choices, multiple }: Approval): boolean {
  return choices !== null && choices.length > 0 && (multiple || choices.length > maxButtons);
}

export interface PressedButton {
  approvalId: string;
  /** The start of the request's hash, so that an old button cannot answer another request. */
  hash: string;
  choice: string;
}

export function parseButtonValue(value: string): PressedButton | undefined {
  const found = /^herdctl:(approval-[a-z0-9]+):([0-9a-f]{16}):(allow|deny|menu|choice-\d)$/.exec(
    value,
  );
  if (!found) return undefined;
  const [, approvalId = "", hash = "", choice = ""] = found;
  return { approvalId, hash, choice };
}

/** The answer of a button or of a menu choice; undefined if nothing was chosen. */
export function decisionFor(
  { choice }: PressedButton,
  { choices, multiple }: Approval,
  chosen: readonly number[] = [],
): ApprovalDecision | undefined {
  if (choice === "allow" || choice === "deny") return choice;
  const indexes = choice === "menu" ? chosen : [Number(choice.slice("choice-".length))];
  const labels = indexes.flatMap((index) => choices?.[index]?.label ?? []);
  if (labels.length === 0 || (labels.length > 1 && !multiple)) return undefined;
  return { reply: labels.join(", ") };
}

export function isBoundTo(button: PressedButton, approval: Approval): boolean {
  return approval.id === button.approvalId && approval.input_hash.startsWith(button.hash);
}

function buttonValue({ id, input_hash }: Approval, choice: string): string {
  return `herdctl:${id}:${input_hash.slice(0, 16)}:${choice}`;
}
