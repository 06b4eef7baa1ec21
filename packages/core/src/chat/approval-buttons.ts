import type { Approval, Word } from "../state/approval.ts";
import { visibleName } from "../state/approval-text.ts";
import type { ChoiceMenu, OutgoingPost } from "./connector.ts";

type Button = NonNullable<OutgoingPost["buttons"]>[number];

/** Both platforms show five buttons in a row, 25 options, and cut long labels. */
const maxButtons = 4;
const maxOptions = 25;
const maxLabelLength = 70;

/** A button for each answer. */
export function buttonsOf(approval: Approval): Button[] {
  const yes = (label: string, answer: string): Button => {
    return { label, value: buttonValue(approval, answer), style: "yes" };
  };
  if (approval.kind === "permission") return [yes("Allow", "allow"), ...denyOnly(approval)];
  const offered = wantsMenu(approval) ? [] : (approval.choices ?? []);
  const choices = offered.map(({ label }, index) => yes(labelOf(label, index), `choice-${index}`));
  return [...choices, ...denyOnly(approval)];
}

/** Where a person cannot see all of the request, they cannot allow it either. */
export function denyOnly(approval: Approval): Button[] {
  const label = approval.kind === "permission" ? "Deny" : "Decline";
  return [{ label, value: buttonValue(approval, "deny"), style: "no" }];
}

export function menuOf(approval: Approval): ChoiceMenu | undefined {
  const { choices, several } = approval;
  if (choices === null || !wantsMenu(approval)) return undefined;
  return {
    value: buttonValue(approval, "menu"),
    several,
    options: choices.slice(0, maxOptions).map(({ label, description }, index) => ({
      label: labelOf(label, index),
      description: description === null ? null : cut(visibleName(description)),
    })),
  };
}

/** How many choices a menu cannot offer. */
export function choicesBeyondMenu({ choices }: Pick<Approval, "choices">): number {
  return Math.max((choices ?? []).length - maxOptions, 0);
}

/** One that is cut gets the number that the whole one has in the text. */
function labelOf(label: string, index: number): string {
  const shown = visibleName(label);
  return shown.length <= maxLabelLength ? shown : cut(`${index + 1}  ${shown}`);
}

function cut(text: string): string {
  return text.length <= maxLabelLength ? text : `${text.slice(0, maxLabelLength - 1)}…`;
}

function wantsMenu({ choices, several }: Approval): boolean {
  return choices !== null && choices.length > 0 && (several || choices.length > maxButtons);
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

/** The answer that a button, or a choice in a menu, gives; undefined when nothing was chosen. */
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
