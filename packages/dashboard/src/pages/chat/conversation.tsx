import type { Job } from "@herdctl/server/contract";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { useReadOnly } from "../../api/access.ts";
import { useTell } from "../../api/queries.ts";
import { Empty } from "../../ui/empty.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Loading } from "../../ui/loading.tsx";
import { ChatTurn } from "./chat-turn.tsx";
import { Composer } from "./composer.tsx";
import { StayAtEnd } from "./stay-at-end.tsx";
import { turnsOf } from "./turns.ts";
import { useConversation } from "./use-conversation.ts";

const route = getRouteApi("/chat");

interface ConversationProps {
  agent: string;
  /** Its session or first job; anything else begins one. */
  id: string | undefined;
}

export function Conversation({ agent, id }: ConversationProps) {
  const known = id === "new" ? undefined : id;
  const { turns: told, session, isLoading, error } = useConversation(agent, known);
  const [sent, setSent] = useState<Job>();
  const navigate = route.useNavigate();
  const readOnly = useReadOnly();
  const trigger = useTell("trigger");
  const cancel = useTell("cancel");
  const isMine = sent !== undefined && sent.agent === agent && known !== undefined;
  const turns = turnsOf(told, isMine && belongs(sent, known, session) ? [sent] : []);
  const live = turns.find((job) => job.finished_at === null);

  const say = async (prompt: string, key: string) => {
    const body = { trigger: "chat" as const, agent, prompt, key, watched: true, resume: session };
    const { job } = await trigger.mutateAsync({ body });
    setSent(job);
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
            title="The session"
          >
            {session}
          </span>
        )}
      </header>
      <StayAtEnd label={`Conversation with ${agent}`}>
        {error !== null && error !== undefined && <ErrorNote error={error} />}
        {isLoading && <Loading />}
        {!isLoading && turns.length === 0 && (
          <Empty title={`A new conversation with ${agent}`}>
            Each message is a job of its own, in one session: budgets, limits and approvals hold,
            and everything is on record.
          </Empty>
        )}
        {turns.map((job) => (
          <ChatTurn key={job.id} job={job} />
        ))}
      </StayAtEnd>
      {trigger.error && <ErrorNote error={trigger.error} />}
      <Composer
        to={agent}
        obstacle={readOnly}
        isSending={trigger.isPending}
        onSay={say}
        onStop={live && (() => cancel.mutate({ params: { id: live.id }, body: {} }))}
      />
    </>
  );
}

/** Sent here a moment ago, and not told by the fleet yet. */
function belongs(sent: Job, id: string | undefined, session: string | undefined): boolean {
  return sent.id === id || (session !== undefined && sent.resumed_from === session);
}
