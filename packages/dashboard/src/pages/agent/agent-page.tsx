import type { AgentStatus } from "@herdctl/server/contract";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useFleetQuery } from "../../api/queries.ts";
import { Badge } from "../../ui/badge.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Loading, Skeleton } from "../../ui/loading.tsx";
import { Dot } from "../../ui/outcome-badge.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { sentenceCase } from "../../ui/sentence-case.ts";
import { Tabs } from "../../ui/tabs.tsx";
import { Money, RelativeTime } from "../../ui/time.tsx";
import { AgentForm } from "../edit/agent-form.tsx";
import { describeWork, toAgentState } from "../fleet/agent-state.ts";
import { TriggerButton } from "../trigger/trigger-button.tsx";
import { Configuration } from "./configuration.tsx";
import { Overview } from "./overview.tsx";
import { PauseButton } from "./pause-button.tsx";
import { Schedules } from "./schedules.tsx";
import type { AgentSearch } from "./search-params.ts";
import { Security } from "./security.tsx";
import { Sessions } from "./sessions.tsx";

const pollIntervalMs = 2_000;

export function AgentPage() {
  const { agent: name } = useParams({ from: "/agents/$agent" });
  const status = useFleetQuery("status", {}, { refetchInterval: pollIntervalMs });
  const agent = status.data?.agents.find((candidate) => candidate.name === name);
  if (agent) return <AgentDetails agent={agent} />;
  if (status.error && !status.data) return <ErrorNote error={status.error} />;
  if (status.data) return <EmptyState title={`Agent ${name} not found`} />;
  return (
    <>
      <Skeleton className="mb-4 h-10 w-64" />
      <Loading lines={8} />
    </>
  );
}

function AgentDetails({ agent }: { agent: AgentStatus }) {
  const search = useSearch({ from: "/agents/$agent" });
  const navigate = useNavigate({ from: "/agents/$agent" });
  const change = (next: Partial<AgentSearch>) =>
    void navigate({ search: (current) => ({ ...current, ...next }), replace: true });
  const { name } = agent;
  const isAdmin = useFleetQuery("access").data?.scope === "admin";
  return (
    <>
      <PageHeader
        title={name}
        note={<AgentNote agent={agent} />}
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
        label="Agent"
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
              <WithConfigValues agent={name}>
                {(values) => (
                  <Configuration
                    values={values}
                    onlyExplicit={search.written ?? false}
                    onChange={(only) => change({ written: only || undefined })}
                  />
                )}
              </WithConfigValues>
            ),
          },
          {
            value: "security",
            title: "Security",
            content: (
              <WithConfigValues agent={name}>
                {(values) => <Security agent={name} values={values} />}
              </WithConfigValues>
            ),
          },
          ...(isAdmin
            ? [
                {
                  value: "edit" as const,
                  title: "Edit",
                  content: (
                    <WithConfigValues agent={name}>
                      {(values) => (
                        <AgentForm
                          agent={name}
                          isNew={false}
                          values={values}
                          onSaved={() => change({ tab: "configuration" })}
                        />
                      )}
                    </WithConfigValues>
                  ),
                },
              ]
            : []),
        ]}
      />
    </>
  );
}

function AgentNote({ agent }: { agent: AgentStatus }) {
  const { label, tone } = toAgentState(agent);
  const work = describeWork(agent);
  return (
    <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
      <Badge tone={tone}>
        <Dot isLive={label === "running"} />
        {sentenceCase(label)}
      </Badge>
      {agent.description && <span>{agent.description}</span>}
      {work && <span>{work}</span>}
      <span>
        <Money usd={agent.cost_today_usd} /> today
      </span>
      {agent.next_due && (
        <span>
          Next run <RelativeTime at={agent.next_due.due_at} />
        </span>
      )}
    </span>
  );
}

type ConfigValues = NonNullable<ReturnType<typeof useConfigValues>["values"]>;

function WithConfigValues({
  agent,
  children,
}: {
  agent: string;
  children(values: ConfigValues): React.ReactNode;
}) {
  const { values, error } = useConfigValues(agent);
  if (values) return children(values);
  return error ? <ErrorNote error={error} /> : <Loading />;
}

function useConfigValues(agent: string) {
  const { data, error } = useFleetQuery("configuration");
  return { values: data?.agents.find(({ name }) => name === agent)?.values, error };
}
