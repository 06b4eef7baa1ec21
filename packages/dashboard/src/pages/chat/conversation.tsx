import type { Job } from "@herdctl/server/contract";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { useFleetMutation } from "../../api/queries.ts";
import { useReadOnlyReason } from "../../api/use-read-only-reason.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Loading } from "../../ui/loading.tsx";
import { ChatTurn } from "./chat-turn.tsx";
import { Composer } from "./composer.tsx";
import { mergeTurns } from "./conversation-summaries.ts";
import { StickToBottom } from "./stick-to-bottom.tsx";
import { useConversation } from "./use-conversation.ts";

const route = getRouteApi("/chat");

interface ConversationProps {
  agent: string;
  /** Session id or first job; undefined or `new` starts a conversation. */
  id: string | undefined;
}

export function Conversation({ agent, id }: ConversationProps) {
  const knownId = id === "new" ? undefined : id;
  const { turns: knownTurns, session, isLoading, error } = useConversation(agent, knownId);
  const [sentJob, setSentJob] = useState<Job>();
  const navigate = route.useNavigate();
  const readOnlyReason = useReadOnlyReason();
  const trigger = useFleetMutation("trigger");
  const cancel = useFleetMutation("cancel");
  const isCurrentConversation =
    sentJob !== undefined && sentJob.agent === agent && knownId !== undefined;
  const turns = mergeTurns(
    knownTurns,
    isCurrentConversation && isSentInConversation(sentJob, knownId, session) ? [sentJob] : [],
  );
  const runningJob = turns.find((job) => job.finished_at === null);

  const sendMessage = async (prompt: string, key: string) => {
    const body = { agent, prompt, key, stream: true, conversation: true, resume: session };
    const { job } = await trigger.mutateAsync({ body });
    setSentJob(job);
    if (session === undefined) await navigate({ search: { agent, with: job.id } });
  };

  return (
    <>
      <header className="flex items-center gap-3 border-b border-line pb-2">
        <Link to="/chat" search={{ agent }} className="text-accent md:hidden">
          Back
        </Link>
        <h2 className="min-w-0 truncate text-md font-semibold">{agent}</h2>
        {session !== undefined && (
          <span
            className="ml-auto hidden truncate font-mono text-xs text-muted md:block"
            title="Session ID"
          >
            {session}
          </span>
        )}
      </header>
      <StickToBottom label={`Conversation with ${agent}`}>
        {error !== null && error !== undefined && <ErrorNote error={error} />}
        {isLoading && <Loading />}
        {!isLoading && turns.length === 0 && (
          <EmptyState title={`New conversation with ${agent}`}>
            Each message starts a job in the same session. Budgets, limits and approvals apply.
          </EmptyState>
        )}
        {turns.map((job) => (
          <ChatTurn key={job.id} job={job} />
        ))}
      </StickToBottom>
      {trigger.error && <ErrorNote error={trigger.error} />}
      <Composer
        to={agent}
        disabledReason={readOnlyReason}
        isSending={trigger.isPending}
        onSend={sendMessage}
        onStop={runningJob && (() => cancel.mutate({ params: { id: runningJob.id }, body: {} }))}
      />
    </>
  );
}

/** Whether the job just sent belongs to the open conversation. */
function isSentInConversation(
  sentJob: Job,
  id: string | undefined,
  session: string | undefined,
): boolean {
  return sentJob.id === id || (session !== undefined && sentJob.resumed_from === session);
}
