import type { ChatMessage, ChatPlatformName, ChatRoom, Conversation } from "@herdctl/protocol";
import type { ConnectionContext } from "./connection-context.ts";

/** Each channel, thread and direct conversation has a separate key for each agent. */
export function conversationKey(agent: string, platform: ChatPlatformName, room: ChatRoom): string {
  return JSON.stringify([agent, platform, room.workspace, room.channel, room.thread]);
}

/** The session to resume; undefined after a reset or a long idle time. */
export function sessionToResume(
  { session_id, last_used_at }: Pick<Conversation, "session_id" | "last_used_at">,
  maxIdleMs: number,
  now: Date,
): string | undefined {
  if (session_id === null) return undefined;
  const idle = now.getTime() - Date.parse(last_used_at);
  return idle > maxIdleMs ? undefined : session_id;
}

/** The job that another program's post names, such as the post of a hook. */
export function findJobId(post: string): string | undefined {
  return /\bjob-\d{4}-\d{2}-\d{2}-[0-9a-z]{10}\b/.exec(post)?.[0];
}

/**
 * A reply to a hook's post continues in the session of that hook's job. This does not apply in a
 * thread that already has a session, or to a job that came from a chat.
 */
export async function continuedSession(
  { fleet }: Pick<ConnectionContext, "fleet">,
  { continues, room, agent }: ChatMessage,
  { session_id, generation }: Conversation,
): Promise<string | undefined> {
  const hasContinued = room.thread !== null && (session_id !== null || generation > 0);
  if (continues === null || hasContinued) return undefined;
  const job = await fleet.state.jobs.get(continues);
  if (!job || job.agent !== agent || job.trigger_type === "chat") return undefined;
  return job.session_id ?? undefined;
}
