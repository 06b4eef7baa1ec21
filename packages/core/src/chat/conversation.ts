import type { Conversation, Platform, Room } from "../state/chat.ts";

/** Each channel, thread and direct exchange has its own, for each agent. */
export function conversationKey(agent: string, platform: Platform, room: Room): string {
  return JSON.stringify([agent, platform, room.workspace, room.channel, room.thread]);
}

/** The session to go on in; none when it was begun anew or lay idle for too long. */
export function sessionToGoOn(
  { session_id, last_used_at }: Pick<Conversation, "session_id" | "last_used_at">,
  expiresAfter: number,
  now: Date,
): string | undefined {
  if (session_id === null) return undefined;
  const idle = now.getTime() - Date.parse(last_used_at);
  return idle > expiresAfter ? undefined : session_id;
}
