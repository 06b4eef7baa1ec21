import { setTimeout as delay } from "node:timers/promises";
import { UserError } from "../errors/user-error.ts";
import type { Approval } from "../state/approval.ts";
import type { ChatMessage, Room } from "../state/chat.ts";
import { labelsByNumber } from "../state/choice-numbers.ts";
import { chatActor } from "./chat-actor.ts";
import type { IncomingMessage } from "./connector.ts";
import type { LinkContext } from "./link-context.ts";
import { ReplyWriter } from "./reply-writer.ts";

type Asker = Pick<LinkContext, "fleet" | "store" | "settings">;

/**
 * The open question that a message answers in words: one that it replies to; where nobody else
 * speaks, directly or in a thread, also the only one that is open there.
 */
export async function questionAnswered(
  { fleet, store, settings }: Asker,
  { sender, text, room, repliesToPost }: IncomingMessage,
  /** What is worked on now, and whether the agent would hear this message. */
  { atWork, isHeard }: { atWork: readonly ChatMessage[]; isHeard: boolean },
): Promise<Approval | undefined> {
  if (!settings.approvers.includes(sender.id) || text.trim() === "") return undefined;
  const near = atWork.filter((one) => one.room.channel === room.channel && one.job_id !== null);
  for (const { id, job_id } of repliesToPost === undefined ? [] : near) {
    const open = await fleet.state.approvals.open(job_id ?? "");
    const questions = open.filter(({ kind }) => kind === "question");
    const subject = questions.length > 0 && (await subjectOf(store, id, repliesToPost ?? ""));
    const replied = questions.find((one) => one.id === subject);
    if (replied) return replied;
  }
  const here = near.find((one) => isSame(one.room, room));
  if (!here || !isHeard || !(room.direct || room.thread !== null)) return undefined;
  const open = await fleet.state.approvals.open(here.job_id ?? "");
  const fitting = open.filter((one) => one.kind === "question" && replyOf(one, text) !== undefined);
  return fitting.length === 1 ? fitting[0] : undefined;
}

/** What a post of ours is about. One that was just made may be seen before its name is on record. */
async function subjectOf(store: Asker["store"], message: string, postedId: string) {
  for (let look = 0; look < mostLooks; look++) {
    const posts = await store.posts(message);
    const found = posts.find(({ posted_id }) => posted_id === postedId);
    if (found || posts.every(({ posted_id }) => posted_id !== null)) return found?.subject;
    await delay(lookEvery);
  }
  return undefined;
}

const lookEvery = 100;
const mostLooks = 20;

/** Brings the answer to whoever asked; done again after a crash it changes nothing. */
export async function giveTypedAnswer(context: LinkContext, message: ChatMessage): Promise<void> {
  const { fleet, store, connector, platform, signal } = context;
  const approval = await fleet.state.approvals.get(message.answers ?? "");
  if (approval) {
    const by = chatActor(platform, message.sender);
    const reply = replyOf(approval, message.text) ?? message.text;
    try {
      await fleet.answer(approval.id, { reply }, by);
      await connector.mark(message.room, message.message_id).catch(() => undefined);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      const now = await fleet.state.approvals.get(approval.id);
      const isGiven = now?.answered_by === by.identity && now.reply === reply;
      const writer = new ReplyWriter(connector, store, message, signal);
      const post = { text: `⚠️ ${error.message}`, replyTo: message.message_id };
      if (!isGiven) await writer.post("refusal", post);
    }
  }
  await store.changeMessage(message.id, { status: "answered" });
}

/** The words as they answer; a number stands for its choice. Undefined when nothing like that is asked for. */
function replyOf(
  { choices, several, free_text }: Pick<Approval, "choices" | "several" | "free_text">,
  text: string,
): string | undefined {
  const typed = text.trim();
  if (choices === null) return typed;
  const labels = labelsByNumber(choices, typed);
  if (labels && (several || labels.length === 1)) return labels.join(", ");
  const named = choices.find(({ label }) => label.toLowerCase() === typed.toLowerCase());
  return named?.label ?? (free_text ? typed : undefined);
}

function isSame(one: Room, other: Room): boolean {
  return one.channel === other.channel && one.thread === other.thread;
}
