import { getRouteApi, Link } from "@tanstack/react-router";
import { useAnswer } from "../../api/queries.ts";
import { Select } from "../../ui/field.tsx";
import { Labelled } from "../../ui/labelled.tsx";
import { Dot } from "../../ui/outcome-badge.tsx";
import { Ago } from "../../ui/time.tsx";
import { talksOf } from "./turns.ts";

const route = getRouteApi("/chat");

interface TalksProps {
  agent: string;
  agents: string[];
  current: string | undefined;
}

const atOnce = 200;

/** With whom, and what was talked about before. */
export function Talks({ agent, agents, current }: TalksProps) {
  const navigate = route.useNavigate();
  const { data } = useAnswer("jobs", { query: { agent, limit: atOnce } });
  const talks = talksOf(data?.jobs ?? []);
  return (
    <div className="flex h-full flex-col gap-3">
      <Labelled label="Talk to">
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
      </Labelled>
      <nav aria-label="Conversations" className="flex min-h-0 flex-col gap-0.5 overflow-y-auto">
        <Link
          to="/chat"
          search={{ agent, with: "new" }}
          aria-current={current === undefined || current === "new" ? "page" : undefined}
          className="rounded px-2 py-1.5 font-medium text-accent hover:bg-hover aria-[current=page]:md:bg-hover"
        >
          New conversation
        </Link>
        {talks.map(({ id, jobs, title, lastAt, isLive }) => (
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
              <Ago at={lastAt} />
            </span>
          </Link>
        ))}
      </nav>
    </div>
  );
}
