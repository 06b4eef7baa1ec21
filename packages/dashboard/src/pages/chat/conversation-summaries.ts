import type { Job } from "@herdctl/server/contract";

/** A conversation: the chat jobs of one session. */
export interface ConversationSummary {
  /** The session id, or the id of the first job until the session exists. */
  id: string;
  /** Ids of the loaded jobs. */
  jobs: string[];
  title: string;
  lastAt: string;
  isLive: boolean;
}

/** Merges lists of jobs without duplicates, sorted by creation time. */
export function mergeTurns(...lists: (readonly Job[] | undefined)[]): Job[] {
  const byId = new Map<string, Job>();
  for (const job of lists.flatMap((jobs) => jobs ?? [])) {
    const existing = byId.get(job.id);
    if (!existing || isLater(job, existing)) byId.set(job.id, job);
  }
  return [...byId.values()].sort((a, b) => a.created_at.localeCompare(b.created_at));
}

/** Groups chat jobs into conversations, most recent first. */
export function toConversations(jobs: readonly Job[]): ConversationSummary[] {
  const conversationsById = new Map<string, ConversationSummary>();
  const chats = jobs.filter((job) => job.trigger_type === "chat" && job.status !== "skipped");
  for (const job of mergeTurns(chats)) {
    const id = sessionOf(job) ?? job.id;
    const existing = conversationsById.get(id);
    conversationsById.set(id, {
      id,
      jobs: [...(existing?.jobs ?? []), job.id],
      title: existing?.title ?? firstLine(job.prompt),
      lastAt: job.created_at,
      isLive: existing?.isLive || job.finished_at === null,
    });
  }
  return [...conversationsById.values()].sort((a, b) => b.lastAt.localeCompare(a.lastAt));
}

/** The session of the conversation; null until the first job has started one. */
export function sessionOf({ session_id, resumed_from }: Job): string | null {
  return session_id ?? resumed_from;
}

function isLater(job: Job, existing: Job): boolean {
  return (
    existing.finished_at === null && (job.finished_at !== null || job.attempts >= existing.attempts)
  );
}

function firstLine(text: string): string {
  return text.trim().split("\n", 1)[0] ?? "";
}
