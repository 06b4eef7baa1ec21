import {
  type Approval,
  type ApprovalDecision,
  escapeInvisible,
  escapeInvisibleInline,
  formatInput,
  formatPermissionRule,
} from "@herdctl/protocol";
import type { ChoiceMenu, OutgoingPost } from "./connector.ts";

/** How much of a request its readers can see. */
export type RequestVisibility =
  /** All of it, in the post. */
  | { kind: "whole" }
  /** All of it, in a file that was posted next to it. */
  | { kind: "attached"; fileName: string }
  /** Not all of it. */
  | { kind: "cut"; reason: string };

export interface ApprovalPostOptions {
  approvers: readonly string[];
  /** Without any, there is no button to allow a request always. */
  ruleApprovers: readonly string[];
  visibility: RequestVisibility;
  /** Whether the platform accepts this post. */
  fits(post: OutgoingPost): boolean;
  /** URL of the page that shows every open request in full. */
  inboxUrl: string | null;
}

/**
 * A request with a button for each answer. If it is not shown completely, here or in a file, it has
 * no button to allow it. Once answered, it shows by whom.
 */
export function approvalPost(approval: Approval, options: ApprovalPostOptions): OutgoingPost {
  const whole = requestText(approval);
  const post = (body: string) => buildPost(approval, body, options);
  const complete = post(whole);
  return options.fits(complete) ? complete : truncateToFit(whole, post, options.fits);
}

/** Whether the post fits with all its buttons, without a file. */
export function canShowWhole(approval: Approval, options: Omit<ApprovalPostOptions, "visibility">) {
  const visibility = { kind: "whole" } as const;
  return options.fits(buildPost(approval, requestText(approval), { ...options, visibility }));
}

/** The whole request as a file, named after the request's id. */
export function approvalFile(approval: Approval): { name: string; content: Buffer } {
  const { id, tool, job_id, input_hash } = approval;
  const head = `request:  ${id}\njob:      ${job_id}\ntool:     ${escapeInvisibleInline(tool)}\ninput:    sha256 ${input_hash}\n`;
  return { name: `${id}.txt`, content: Buffer.from(`${head}\n${requestText(approval)}\n`) };
}

/** The complete text of the request. */
function requestText(approval: Approval): string {
  if (approval.kind === "permission") return formatInput(approval.input);
  const { question, choices, default_reply } = approval;
  const offered = (choices ?? []).map(({ label, description }, index) => {
    const meaning = description === null ? "" : `: ${escapeInvisibleInline(description)}`;
    return `${index + 1}  ${escapeInvisibleInline(label)}${meaning}`;
  });
  const fallback =
    default_reply === null ? [] : [`Default answer: ${escapeInvisible(default_reply)}`];
  return [escapeInvisible(question ?? ""), ...offered, ...fallback].join("\n");
}

function buildPost(approval: Approval, body: string, options: ApprovalPostOptions): OutgoingPost {
  const request = `${headline(approval)}\n${codeBlock(body)}`;
  const { visibility, approvers } = options;
  if (approval.answer !== null) return { text: `${request}\n${answerText(approval)}` };
  if (approvers.length === 0) {
    const command = approval.kind === "question" ? `herdctl answer ${approval.id} …` : openCommand;
    return { text: `${request}\nAnswer it with \`${command}\` on the fleet's machine.` };
  }
  const until = `Expires at ${approval.expires_at.slice(11, 16)} UTC. Only approvers can answer.`;
  // defence: deny-only-when-cut
  if (visibility.kind === "cut") {
    const text = `${request}\n${notAllShownText(approval, visibility.reason, options.inboxUrl)}\n${until}`;
    return { text, buttons: denyButton(approval) };
  }
  const file =
    visibility.kind === "attached"
      ? `\nThe whole request is in the file \`${visibility.fileName}\`.`
      : "";
  const rule = approval.kind === "permission" ? `\n${ruleText(approval)}` : "";
  const text = `${request}${file}${rule}\n${until}${replyHint(approval)}`;
  const buttons = approvalButtons(approval, options);
  return { text, buttons, menu: approvalMenu(approval) };
}

const openCommand = "herdctl approvals";

function headline({ kind, tool }: Approval): string {
  if (kind === "question") return "❓ The agent asks:";
  return `🔐 The agent wants to use ${inlineCode(tool)}:`;
}

/** What the buttons for more than one call allow. */
function ruleText({ suggested_rules: rules, tool }: Approval): string {
  const rule = escapeInvisibleInline(formatPermissionRule({ rules, tool }));
  return `“For this job” and “Always” allow ${inlineCode(rule)}.`;
}

function notAllShownText({ kind }: Approval, reason: string, inboxUrl: string | null): string {
  const answer = kind === "question" ? "answered" : "allowed";
  const where = inboxUrl === null ? `\`${openCommand}\` on the fleet's machine` : inboxUrl;
  return `⚠️ This is not the whole request: ${reason} It cannot be ${answer} here. See all of it with ${where}.`;
}

/** The longest start that fits, with a note of how much is missing. */
function truncateToFit(
  whole: string,
  post: (body: string) => OutgoingPost,
  fits: ApprovalPostOptions["fits"],
): OutgoingPost {
  let length = whole.length;
  for (;;) {
    length = Math.floor(length * 0.8);
    // Does not split a surrogate pair.
    const end = /[\uD800-\uDBFF]$/.test(whole.slice(0, length)) ? length - 1 : length;
    const left = whole.length - end;
    const candidate = post(`${whole.slice(0, end)}\n[… ${left} more characters]`);
    if (fits(candidate) || length === 0) return candidate;
  }
}

function replyHint(approval: Approval): string {
  const { kind, choices, free_text } = approval;
  if (kind !== "question") return "";
  const beyond = choicesBeyondMenu(approval);
  const missing =
    beyond > 0
      ? ` The menu does not show the last ${beyond} choices: reply with their number.`
      : "";
  if (!free_text) return missing;
  const action = choices === null ? "Answer" : "Choose, or answer in your own words,";
  return `${missing} ${action} with a reply to this message.`;
}

const maxReplyLength = 300;

const scopeTexts = { once: "", job: " for this job", always: " always" };

function answerText({ answer, answered_by, reply, kind, scope }: Approval): string {
  const who = escapeInvisibleInline(answered_by ?? "someone");
  if (answer === "allow") return `✅ Allowed${scopeTexts[scope ?? "once"]} by ${who}.`;
  if (answer === "deny") return `⛔ ${kind === "question" ? "Declined" : "Denied"} by ${who}.`;
  if (answer !== "reply") return "⌛ No longer open.";
  const text = escapeInvisible(reply ?? "");
  const shownReply = text.length > maxReplyLength ? `${text.slice(0, maxReplyLength)} …` : text;
  return `✅ ${who}: ${withoutFences(shownReply)}`;
}

/** The text cannot end the code block: runs of three backticks are escaped. */
function codeBlock(text: string): string {
  // defence: no-fence-in-post
  return `\`\`\`\n${withoutFences(text)}\n\`\`\``;
}

function inlineCode(text: string): string {
  return `\`${escapeInvisibleInline(text).replaceAll("`", backtick)}\``;
}

function withoutFences(text: string): string {
  return text.replaceAll("```", backtick.repeat(3));
}

const backtick = "\\x60";

type Button = NonNullable<OutgoingPost["buttons"]>[number];

/** Both platforms allow five buttons per row and 25 options, and cut long labels. */
const maxButtons = 4;
const maxOptions = 25;
const maxLabelLength = 70;

/** One button for each answer. */
function approvalButtons(
  approval: Approval,
  { ruleApprovers }: Pick<ApprovalPostOptions, "ruleApprovers">,
): Button[] {
  const allowButton = (label: string, answer: string): Button => {
    return { label, value: buttonValue(approval, answer), style: "yes" };
  };
  if (approval.kind === "permission")
    return [
      allowButton("Allow once", "allow"),
      allowButton("For this job", "job"),
      ...(ruleApprovers.length > 0 ? [allowButton("Always", "always")] : []),
      ...denyButton(approval),
    ];
  const offered = needsMenu(approval) ? [] : (approval.choices ?? []);
  const choices = offered.map(({ label }, index) =>
    allowButton(buttonLabel(label, index), `choice-${index}`),
  );
  return [...choices, ...denyButton(approval)];
}

/** A person who cannot see the whole request cannot allow it. */
function denyButton(approval: Approval): Button[] {
  const label = approval.kind === "permission" ? "Deny" : "Decline";
  return [{ label, value: buttonValue(approval, "deny"), style: "no" }];
}

function approvalMenu(approval: Approval): ChoiceMenu | undefined {
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
function choicesBeyondMenu({ choices }: Pick<Approval, "choices">): number {
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

interface PressedButton {
  approvalId: string;
  /** The start of the request's hash, so that an old button cannot answer another request. */
  hash: string;
  choice: string;
}

export function parseButtonValue(value: string): PressedButton | undefined {
  const found =
    /^herdctl:(approval-[a-z0-9]+):([0-9a-f]{16}):(allow|job|always|deny|menu|choice-\d)$/.exec(
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
  if (choice === "job" || choice === "always") return { allow: choice };
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
