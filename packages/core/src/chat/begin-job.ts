import { failPoint } from "../faults/fail-point.ts";
import type { ChatMessage, Conversation } from "../state/chat.ts";
import { chatActor } from "./chat-actor.ts";
import { continuedSession } from "./continued-session.ts";
import { sessionToGoOn } from "./conversation.ts";
import { gatherPrompt } from "./gather-prompt.ts";
import type { LinkContext } from "./link-context.ts";

/** Brings a message through the one door, in the session of its conversation. */
export async function beginJob(context: LinkContext, message: ChatMessage): Promise<ChatMessage> {
  const { fleet, store, settings } = context;
  const conversation = await conversationOf(context, message);
  const resume =
    (await continuedSession(context, message, conversation)) ??
    sessionToGoOn(conversation, settings.session_expires, new Date());
  const [name, schedule] = chatSchedule(context) ?? [];
  const since = resume === undefined ? undefined : new Date(conversation.last_used_at);
  const request = {
    trigger: "chat" as const,
    agent: message.agent,
    schedule: name,
    prompt: await gatherPrompt(context, message, { since, lead: schedule?.prompt }),
    // The same message gives the same job, whoever brings it again.
    key: `chat/${message.id}/${message.restarts}`,
    resume,
    watched: true,
  };
  const { job } = await fleet.trigger(request, chatActor(message.platform, message.sender));
  failPoint("chat job known");
  const { generation } = conversation;
  return store.changeMessage(message.id, { status: "working", job_id: job.id, generation });
}

async function conversationOf(context: LinkContext, message: ChatMessage): Promise<Conversation> {
  const found = await context.store.conversation(message.conversation_id);
  if (found) return found;
  throw new Error(`there is no conversation ${message.conversation_id}`);
}

/** What the operator says of chat messages, in a schedule of that type. */
function chatSchedule({ agent }: LinkContext) {
  return Object.entries(agent().schedules).find(
    ([, { type, enabled }]) => type === "chat" && enabled,
  );
}
