import type { Job } from "@herdctl/server/contract";
import { useAnswer } from "../../api/queries.ts";
import { sessionOf, turnsOf } from "./turns.ts";

export interface Conversation {
  turns: Job[];
  /** Undefined while none is open. */
  session: string | undefined;
  isLoading: boolean;
  error: unknown;
}

const atOnce = 200;

/** All that was said in one session, and what waits to be. */
export function useConversation(agent: string | undefined, id: string | undefined): Conversation {
  const isJob = id?.startsWith("job-") ?? false;
  const first = useAnswer("job", { params: { id: id ?? "" } }, { enabled: isJob });
  const begun = isJob ? first.data?.job : undefined;
  const session = isJob ? ((begun && sessionOf(begun)) ?? undefined) : id;
  const told = useAnswer(
    "jobs",
    { query: { session, limit: atOnce } },
    { enabled: session !== undefined },
  );
  // A job knows its session once it has started.
  const waiting = useAnswer(
    "jobs",
    { query: { agent, status: "pending", limit: atOnce } },
    { enabled: session !== undefined },
  );
  const next = waiting.data?.jobs.filter((job) => job.resumed_from === session);
  return {
    turns: turnsOf(begun && [begun], told.data?.jobs, next),
    session,
    isLoading: (isJob && first.isPending) || (session !== undefined && told.isPending),
    error: first.error ?? told.error,
  };
}
