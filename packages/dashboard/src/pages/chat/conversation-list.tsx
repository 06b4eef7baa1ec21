import { getRouteApi, Link } from "@tanstack/react-router";
import { useFleetQuery } from "../../api/queries.ts";
import { Select } from "../../ui/form-controls.tsx";
import { LabelledField } from "../../ui/labelled-field.tsx";
import { Dot } from "../../ui/outcome-badge.tsx";
import { RelativeTime } from "../../ui/time.tsx";
import { toConversations } from "./conversation-summaries.ts";

const route = getRouteApi("/chat");

interface ConversationListProps {
  agent: string;
  agents: string[];
  current: string | undefined;
}

const maxJobs = 200;

/** Selects an agent and lists the conversations with it. */
export function ConversationList({ agent, agents, current }: ConversationListProps) {
  const navigate = route.useNavigate();
  const { data } = useFleetQuery("jobs", { query: { agent, limit: maxJobs } });
  const conversations = toConversations(data?.jobs ?? []);
  return (
    <div className="flex h-full flex-col gap-3">
      <LabelledField label="Agent">
        {(id) => (
          <Select
            id={id}
            value={agent}
            onChange={({ target }) => navigate({ search: { agent: target.value } })}
          >
            {agents.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </Select>
        )}
      </LabelledField>
      <nav aria-label="Conversations" className="flex min-h-0 flex-col gap-0.5 overflow-y-auto">
        <Link
          to="/chat"
          search={{ agent, with: "new" }}
          aria-current={current === undefined || current === "new" ? "page" : undefined}
          className="rounded px-2 py-1.5 font-medium text-accent hover:bg-hover aria-[current=page]:md:bg-hover"
        >
          New conversation
        </Link>
        {data && conversations.length === 0 && (
          <p className="px-2 py-1.5 text-sm text-muted">
            No conversations with {agent} yet. Start one to ask something or to hand over work.
          </p>
        )}
        {conversations.map(({ id, jobs, title, lastAt, isLive }) => (
          <Link
            key={id}
            data-row
            to="/chat"
            search={{ agent, with: id }}
            aria-current={current && [id, ...jobs].includes(current) ? "page" : undefined}
            className="rounded px-2 py-1.5 hover:bg-hover aria-[current=page]:bg-hover"
          >
            <span className="block truncate">{title}</span>
            <span className="flex items-center gap-1.5 text-sm text-muted">
              {isLive && (
                <span className="text-live">
                  <Dot isLive />
                </span>
              )}
              <RelativeTime at={lastAt} />
            </span>
          </Link>
        ))}
      </nav>
    </div>
  );
}
