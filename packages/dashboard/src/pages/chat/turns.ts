import type { Job } from "@herdctl/server/contract";

/** What was said in one session, as far as it is told by jobs. */
export interface Talk {
  /** The session, or the job that is to open it. */
  id: string;
  /** Those of its jobs that are known. */
  jobs: string[];
  title: string;
  lastAt: string;
  isLive: boolean;
}

/** The jobs of one conversation in the order in which they were asked for, each once. */
export function turnsOf(...known: (readonly Job[] | undefined)[]): Job[] {
  const byId = new Map<string, Job>();
  for (const job of known.flatMap((jobs) => jobs ?? [])) {
    const before = byId.get(job.id);
    if (!before || isLater(job, before)) byId.set(job.id, job);
  }
  return [...byId.values()].sort((a, b) => a.created_at.localeCompare(b.created_at));
}

/** The conversations among jobs, the one that was last spoken in first. */
export function talksOf(jobs: readonly Job[]): Talk[] {
  const talks = new Map<string, Talk>();
  const chats = jobs.filter((job) => job.trigger_type === "chat" && job.status !== "skipped");
  for (const job of turnsOf(chats)) {
    const id = sessionOf(job) ?? job.id;
    const before = talks.get(id);
    talks.set(id, {
      id,
      jobs: [...(before?.jobs ?? []), job.id],
      title: before?.title ?? firstLine(job.prompt),
      lastAt: job.created_at,
      isLive: before?.isLive || job.finished_at === null,
    });
  }
  return [...talks.values()].sort((a, b) => b.lastAt.localeCompare(a.lastAt));
}

/** Where the conversation goes on; null while no session is known. */
export function sessionOf({ session_id, resumed_from }: Job): string | null {
  return session_id ?? resumed_from;
}

function isLater(job: Job, before: Job): boolean {
  return (
    before.finished_at === null && (job.finished_at !== null || job.attempts >= before.attempts)
  );
}

function firstLine(text: string): string {
  return text.trim().split("\n", 1)[0] ?? "";
}
