import type { Approval } from "../state/approval.ts";
import { inputText, visible, visibleName } from "../state/approval-text.ts";
import { buttonsOf, choicesBeyondMenu, denyOnly, menuOf } from "./approval-buttons.ts";
import type { OutgoingPost } from "./connector.ts";

/** How much of a request its readers can see. */
export type ShownRequest =
  /** All of it, in the post. */
  | { kind: "whole" }
  /** All of it, in a file that was posted beside it. */
  | { kind: "attached"; fileName: string }
  /** Not all of it. */
  | { kind: "cut"; reason: string };

export interface ApprovalPostOptions {
  approvers: readonly string[];
  shown: ShownRequest;
  /** Whether the platform takes this post as it is. */
  fits(post: OutgoingPost): boolean;
  /** Of the page where every open request is shown whole. */
  inboxUrl: string | null;
}

/**
 * A request with a button for each answer. A request that is not shown whole, here or in a file,
 * has no button to allow it. Once answered, it shows by whom.
 */
export function approvalPost(approval: Approval, options: ApprovalPostOptions): OutgoingPost {
  const whole = requestText(approval);
  const post = (body: string) => composed(approval, body, options);
  const complete = post(whole);
  return options.fits(complete) ? complete : shortened(whole, post, options.fits);
}

/** Whether the buttons to answer it can be offered without a file. */
export function fitsWhole(approval: Approval, options: Omit<ApprovalPostOptions, "shown">) {
  const shown = { kind: "whole" } as const;
  return options.fits(composed(approval, requestText(approval), { ...options, shown }));
}

/** The whole request as a file. Its name tells which request it belongs to. */
export function approvalFile(approval: Approval): { name: string; content: Buffer } {
  const { id, tool, job_id, input_hash } = approval;
  const head = `request:  ${id}\njob:      ${job_id}\ntool:     ${visibleName(tool)}\ninput:    sha256 ${input_hash}\n`;
  return { name: `${id}.txt`, content: Buffer.from(`${head}\n${requestText(approval)}\n`) };
}

/** All that is asked, to the last character. */
function requestText(approval: Approval): string {
  if (approval.kind === "permission") return inputText(approval.input);
  const { question, choices, default_reply } = approval;
  const offered = (choices ?? []).map(({ label, description }, index) => {
    const meaning = description === null ? "" : `: ${visibleName(description)}`;
    return `${index + 1}  ${visibleName(label)}${meaning}`;
  });
  const fallback = default_reply === null ? [] : [`Without an answer: ${visible(default_reply)}`];
  return [visible(question ?? ""), ...offered, ...fallback].join("\n");
}

function composed(approval: Approval, body: string, options: ApprovalPostOptions): OutgoingPost {
  const asked = `${headOf(approval)}\n${codeBlock(body)}`;
  const { shown, approvers } = options;
  if (approval.answer !== null) return { text: `${asked}\n${answerText(approval)}` };
  if (approvers.length === 0) {
    const command = approval.kind === "question" ? `herdctl answer ${approval.id} …` : openCommand;
    return { text: `${asked}\nIt is answered with \`${command}\` on the fleet's machine.` };
  }
  const until = `Until ${approval.expires_at.slice(11, 16)} UTC; only approvers can answer.`;
  if (shown.kind === "cut") {
    const text = `${asked}\n${refusalText(approval, shown.reason, options.inboxUrl)}\n${until}`;
    return { text, buttons: denyOnly(approval) };
  }
  const file =
    shown.kind === "attached" ? `\nThe whole request is in the file \`${shown.fileName}\`.` : "";
  const text = `${asked}${file}\n${until}${howInWords(approval)}`;
  return { text, buttons: buttonsOf(approval), menu: menuOf(approval) };
}

const openCommand = "herdctl approvals";

function headOf({ kind, tool }: Approval): string {
  if (kind === "question") return "❓ It asks:";
  return `🔐 ${inlineCode(tool)} wants to be used:`;
}

function refusalText({ kind }: Approval, reason: string, inboxUrl: string | null): string {
  const answer = kind === "question" ? "answered" : "allowed";
  const where = inboxUrl === null ? `\`${openCommand}\` on the fleet's machine` : inboxUrl;
  return `⚠️ This is not all of it: ${reason} So it cannot be ${answer} here; see all of it with ${where}.`;
}

/** The longest beginning that fits, with a mark that says how much is missing. */
function shortened(
  whole: string,
  post: (body: string) => OutgoingPost,
  fits: ApprovalPostOptions["fits"],
): OutgoingPost {
  let length = whole.length;
  for (;;) {
    length = Math.floor(length * 0.8);
    // A pair of halves that makes one character stays whole.
    const end = /[\uD800-\uDBFF]$/.test(whole.slice(0, length)) ? length - 1 : length;
    const left = whole.length - end;
    const candidate = post(`${whole.slice(0, end)}\n[… ${left} more characters]`);
    if (fits(candidate) || length === 0) return candidate;
  }
}

function howInWords(approval: Approval): string {
  const { kind, choices, free_text } = approval;
  if (kind !== "question") return "";
  const beyond = choicesBeyondMenu(approval);
  const missing =
    beyond > 0 ? ` The menu lacks the last ${beyond} choices: reply with their number.` : "";
  if (!free_text) return missing;
  const own = choices === null ? "Answer" : "Choose, or answer in your own words";
  return `${missing} ${own} by a reply to this message.`;
}

const maxReplyLength = 300;

function answerText({ answer, answered_by, reply, kind }: Approval): string {
  const who = visibleName(answered_by ?? "somebody");
  if (answer === "allow") return `✅ Allowed by ${who}.`;
  if (answer === "deny") return `⛔ ${kind === "question" ? "Declined" : "Denied"} by ${who}.`;
  if (answer !== "reply") return "⌛ No longer asked.";
  const words = visible(reply ?? "");
  const shown = words.length > maxReplyLength ? `${words.slice(0, maxReplyLength)} …` : words;
  return `✅ ${who}: ${withoutFences(shown)}`;
}

/** No text in it can end the block: a run of three backticks is broken up by escapes. */
function codeBlock(text: string): string {
  return `\`\`\`\n${withoutFences(text)}\n\`\`\``;
}

function inlineCode(text: string): string {
  return `\`${visibleName(text).replaceAll("`", backtick)}\``;
}

function withoutFences(text: string): string {
  return text.replaceAll("```", backtick.repeat(3));
}

const backtick = "\\x60";
