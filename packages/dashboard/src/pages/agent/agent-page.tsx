import type { AgentStatus } from "@herdctl/server/contract";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useAnswer } from "../../api/queries.ts";
import { Badge } from "../../ui/badge.tsx";
import { Empty } from "../../ui/empty.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Loading, Skeleton } from "../../ui/loading.tsx";
import { Dot } from "../../ui/outcome-badge.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { Ago, Money } from "../../ui/time.tsx";
import { stateOf, workOf } from "../fleet/agent-state.ts";
import { TriggerButton } from "../trigger/trigger-button.tsx";
import { Configuration } from "./configuration.tsx";
import { Overview } from "./overview.tsx";
import { PauseButton } from "./pause-button.tsx";
import { Schedules } from "./schedules.tsx";
import type { AgentSearch } from "./search.ts";
import { Security } from "./security.tsx";
import { Sessions } from "./sessions.tsx";

const lookAgain = 2_000;

export function AgentPage() {
  const { agent: name } = useParams({ from: "/agents/$agent" });
  const status = useAnswer("status", {}, { refetchInterval: lookAgain });
  const agent = status.data?.agents.find((one) => one.name === name);
  if (agent) return <Whole agent={agent} />;
  if (status.error && !status.data) return <ErrorNote error={status.error} />;
  if (status.data) return <Empty title={`There is no agent ${name}`} />;
  return (
    <>
      <Skeleton className="mb-4 h-10 w-64" />
      <Loading lines={8} />
    </>
  );
}

function Whole({ agent }: { agent: AgentStatus }) {
  const search = useSearch({ from: "/agents/$agent" });
  const navigate = useNavigate({ from: "/agents/$agent" });
  const change = (next: Partial<AgentSearch>) =>
    void navigate({ search: (old) => ({ ...old, ...next }), replace: true });
  const { name } = agent;
  return (
    <>
      <PageHead
        title={name}
        note={<Note agent={agent} />}
        actions={
          <>
            <Link
              to="/chat"
              search={{ agent: name }}
              className="inline-flex h-8 items-center rounded border border-line-strong bg-surface px-3 font-medium hover:bg-hover"
            >
              Chat
            </Link>
            <PauseButton agent={agent} />
            <TriggerButton agent={name} />
          </>
        }
      />
      <Tabs
        label="About the agent"
        value={search.tab ?? "overview"}
        onChange={(tab) => change({ tab: tab === "overview" ? undefined : tab })}
        tabs={[
          { value: "overview", title: "Overview", content: <Overview agent={agent} /> },
          {
            value: "schedules",
            title: "Schedules",
            content: <Schedules agent={name} day={search.day} onDay={(day) => change({ day })} />,
          },
          { value: "sessions", title: "Sessions", content: <Sessions agent={name} /> },
          {
            value: "configuration",
            title: "Configuration",
            content: (
              <Values agent={name}>
                {(values) => (
                  <Configuration
                    values={values}
                    onlyWritten={search.written ?? false}
                    onChange={(only) => change({ written: only || undefined })}
                  />
                )}
              </Values>
            ),
          },
          {
            value: "security",
            title: "Security",
            content: <Values agent={name}>{(values) => <Security values={values} />}</Values>,
          },
        ]}
      />
    </>
  );
}

function Note({ agent }: { agent: AgentStatus }) {
  const { word, tone } = stateOf(agent);
  const work = workOf(agent);
  return (
    <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
      <Badge tone={tone}>
        <Dot isLive={word === "running"} />
        {word}
      </Badge>
      {agent.description && <span>{agent.description}</span>}
      {work && <span>{work}</span>}
      <span>
        <Money usd={agent.cost_today_usd} /> today
      </span>
      {agent.next_due && (
        <span>
          next <Ago at={agent.next_due.due_at} />
        </span>
      )}
    </span>
  );
}

type ShownValues = NonNullable<ReturnType<typeof useValues>["values"]>;

function Values({
  agent,
  children,
}: {
  agent: string;
  children(values: ShownValues): React.ReactNode;
}) {
  const { values, error } = useValues(agent);
  if (values) return children(values);
  return error ? <ErrorNote error={error} /> : <Loading />;
}

function useValues(agent: string) {
  const { data, error } = useAnswer("configuration");
  return { values: data?.agents.find(({ name }) => name === agent)?.values, error };
}
