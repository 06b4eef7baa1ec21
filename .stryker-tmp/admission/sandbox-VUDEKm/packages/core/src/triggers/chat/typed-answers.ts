import { setTimeout as delay } from "node:timers/promises";
import {
  type Approval,
  type ChatMessage,
  type ChatRoom,
  parseChoiceNumbers,
  UserError,
} from "@herdctl/protocol";
import { chatActor } from "./chat-actor.ts";
import type { ConnectionContext } from "./connection-context.ts";
import type { IncomingMessage } from "./connector.ts";
import { ReplyWriter } from "./reply-writer.ts";

type TypedAnswerContext = Pick<ConnectionContext, "fleet" | "store" | "settings">;

/**
 * The open question that a message answers as text: the question it replies to, or, in direct
 * messages and threads, the only open one.
 */
export async function findAnsweredQuestion(
  { fleet, store, settings }: TypedAnswerContext,
  { sender, text, room, repliedPostId }: IncomingMessage,
  /** The messages that are being answered, and whether this message addresses the agent. */
  { activeMessages, isAddressed }: { activeMessages: readonly ChatMessage[]; isAddressed: boolean },
): Promise<Approval | undefined> {
  if (!settings.approvers.includes(sender.id) || text.trim() === "") return undefined;
  const nearbyMessages = activeMessages.filter(
    (message) => message.room.channel === room.channel && message.job_id !== null,
  );
  for (const { id, job_id } of repliedPostId === undefined ? [] : nearbyMessages) {
    const open = await fleet.state.approvals.listOpen(job_id ?? "");
    const questions = open.filter(({ kind }) => kind === "question");
    const subject = questions.length > 0 && (await findPostSubject(store, id, repliedPostId ?? ""));
    const repliedTo = questions.find((question) => question.id === subject);
    if (repliedTo) return repliedTo;
  }
  const here = nearbyMessages.find((message) => isSameRoom(message.room, room));
  if (!here || !isAddressed || !(room.direct || room.thread !== null)) return undefined;
  const open = await fleet.state.approvals.listOpen(here.job_id ?? "");
  const fitting = open.filter(
    (approval) => approval.kind === "question" && toReply(approval, text) !== undefined,
  );
  return fitting.length === 1 ? fitting[0] : undefined;
}

/** The subject of a post. A post that was just made may be seen before its id is recorded. */
async function findPostSubject(
  store: TypedAnswerContext["store"],
  message: string,
  postedId: string,
) {
  for (let poll = 0; poll < maxPolls; poll++) {
    const posts = await store.listPosts(message);
    const found = posts.find(({ posted_id }) => posted_id === postedId);
    if (found || posts.every(({ posted_id }) => posted_id !== null)) return found?.subject;
    await delay(pollIntervalMs);
  }
  return undefined;
}

const pollIntervalMs = 100;
const maxPolls = 20;

/** Passes the answer to the job. Repeating this after a crash changes nothing. */
export async function applyTypedAnswer(
  context: ConnectionContext,
  message: ChatMessage,
): Promise<void> {
  const { fleet, store, connector, platform, signal } = context;
  const approval = await fleet.state.approvals.get(message.answers ?? "");
  if (approval) {
    const by = chatActor(platform, message.sender);
    const reply = toReply(approval, message.text) ?? message.text;
    try {
      await fleet.answerApproval(approval.id, { reply }, by);
      await connector.markSeen(message.room, message.message_id).catch(() => undefined);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      const now = await fleet.state.approvals.get(approval.id);
      const isGiven = now?.answered_by === by.identity && now.reply === reply;
      const writer = new ReplyWriter(connector, store, message, signal);
      const post = { text: `⚠️ ${error.message}`, replyToId: message.message_id };
      if (!isGiven) await writer.post("refusal", post);
    }
  }
  await store.updateMessage(message.id, { status: "answered" });
}

/**
 * The reply that a text gives; a number stands for its choice. Undefined if the question does not
 * accept the text.
 */
function toReply(
  { choices, multiple, free_text }: Pick<Approval, "choices" | "multiple" | "free_text">,
  text: string,
): string | undefined {
  const typed = text.trim();
  if (choices === null) return typed;
  const labels = parseChoiceNumbers(choices, typed);
  if (labels && (multiple || labels.length === 1)) return labels.join(", ");
  const named = choices.find(({ label }) => label.toLowerCase() === typed.toLowerCase());
  return named?.label ?? (free_text ? typed : undefined);
}

function isSameRoom(a: ChatRoom, b: ChatRoom): boolean {
  return a.channel === b.channel && a.thread === b.thread;
}
