import type { ChatMessage, Conversation } from "../state/chat.ts";
import type { LinkContext } from "./link-context.ts";

/** The job that a program's post tells of, as a hook's does. */
export function jobNamedIn(post: string): string | undefined {
  return /\bjob-\d{4}-\d{2}-\d{2}-[0-9a-z]{10}\b/.exec(post)?.[0];
}

/**
 * Who replies to what a hook told of a job goes on in that job's session. Not so in a thread that
 * has gone on already, nor with a job that came from a chat: its session is that conversation's.
 */
export async function continuedSession(
  { fleet }: Pick<LinkContext, "fleet">,
  { continues, room, agent }: ChatMessage,
  { session_id, generation }: Conversation,
): Promise<string | undefined> {
  const hasGoneOn = room.thread !== null && (session_id !== null || generation > 0);
  if (continues === null || hasGoneOn) return undefined;
  const job = await fleet.state.jobs.get(continues);
  if (!job || job.agent !== agent || job.trigger_type === "chat") return undefined;
  return job.session_id ?? undefined;
}
