import type { Job } from "@herdctl/server/contract";
import { useFleetQuery } from "../../api/queries.ts";
import { mergeTurns, sessionOf } from "./conversation-summaries.ts";

export interface Conversation {
  turns: Job[];
  /** Undefined until the session exists. */
  session: string | undefined;
  isLoading: boolean;
  error: unknown;
}

const maxJobs = 200;

/** All finished, running and queued turns of one conversation. */
export function useConversation(agent: string | undefined, id: string | undefined): Conversation {
  const isJob = id?.startsWith("job-") ?? false;
  const firstQuery = useFleetQuery("job", { params: { id: id ?? "" } }, { enabled: isJob });
  const firstJob = isJob ? firstQuery.data?.job : undefined;
  const session = isJob ? ((firstJob && sessionOf(firstJob)) ?? undefined) : id;
  const sessionJobs = useFleetQuery(
    "jobs",
    { query: { session, limit: maxJobs } },
    { enabled: session !== undefined },
  );
  // Pending jobs have no session id yet, so they are matched by the session they will resume.
  const pendingJobs = useFleetQuery(
    "jobs",
    { query: { agent, status: "pending", limit: maxJobs } },
    { enabled: session !== undefined },
  );
  const queuedJobs = pendingJobs.data?.jobs.filter((job) => job.resumed_from === session);
  return {
    turns: mergeTurns(firstJob && [firstJob], sessionJobs.data?.jobs, queuedJobs),
    session,
    isLoading: (isJob && firstQuery.isPending) || (session !== undefined && sessionJobs.isPending),
    error: firstQuery.error ?? sessionJobs.error,
  };
}
