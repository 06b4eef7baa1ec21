import type { AgentStatus } from "@herdctl/server/contract";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import type { Answer } from "../../api/ask.ts";
import { useAnswer } from "../../api/queries.ts";
import { useTimeline } from "../../api/timeline.ts";
import { Empty } from "../../ui/empty.tsx";
import { Loading } from "../../ui/loading.tsx";
import { OutcomeBadge } from "../../ui/outcome-badge.tsx";
import { Panel } from "../../ui/panel.tsx";
import { durationWords, moneyWords } from "../../ui/quantities.ts";
import { Table, Td, Th } from "../../ui/table.tsx";
import { Ago, Duration, Money } from "../../ui/time.tsx";
import { LiveRun } from "./live-run.tsx";
import { Trend } from "./trend.tsx";
import { trendsOf } from "./trends.ts";

const aMonth = 30 * 24;

export function Overview({ agent }: { agent: AgentStatus }) {
  const { data } = useAnswer("jobs", { query: { agent: agent.name, limit: 15 } });
  return (
    <div className="flex flex-col gap-4">
      {agent.running.map((run) => (
        <LiveRun key={run.job_id} run={run} />
      ))}
      <Trends agent={agent.name} />
      <Panel
        flush
        title="Latest jobs"
        aside={
          <Link to="/activity" search={{ agent: agent.name }} className="text-accent underline">
            All
          </Link>
        }
      >
        {data ? <Jobs jobs={data.jobs} /> : <Loading />}
      </Panel>
    </div>
  );
}

function Trends({ agent }: { agent: string }) {
  const { data } = useTimeline(aMonth, agent);
  const { times, costs, durations } = useMemo(() => trendsOf(data?.jobs ?? []), [data]);
  if (times.length < 2) return null;
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <Panel title="Cost of a run" aside="30 days">
        <Trend
          label={`Cost of the last ${times.length} runs`}
          times={times}
          values={costs}
          colour="--accent"
          words={moneyWords}
        />
      </Panel>
      <Panel title="Duration of a run" aside="30 days">
        <Trend
          label={`Duration of the last ${times.length} runs`}
          times={times}
          values={durations}
          colour="--live"
          words={durationWords}
        />
      </Panel>
    </div>
  );
}

function Jobs({ jobs }: { jobs: Answer<"jobs">["jobs"] }) {
  if (jobs.length === 0) {
    return (
      <div className="p-3">
        <Empty title="It has not run yet">Trigger it, or wait for its schedules.</Empty>
      </div>
    );
  }
  return (
    <Table label="Latest jobs">
      <thead>
        <tr>
          <Th>Outcome</Th>
          <Th>Job</Th>
          <Th>Why</Th>
          <Th>When</Th>
          <Th className="text-right">Took</Th>
          <Th className="text-right">Cost</Th>
        </tr>
      </thead>
      <tbody>
        {jobs.map((job) => (
          <tr key={job.id} className="hover:bg-hover">
            <Td>
              <OutcomeBadge job={job} />
            </Td>
            <Td className="w-full max-w-0 min-w-48">
              <Link
                to="/jobs/$jobId"
                params={{ jobId: job.id }}
                data-row
                className="block truncate hover:underline"
              >
                {job.summary ?? job.prompt}
              </Link>
            </Td>
            <Td className="text-sm whitespace-nowrap text-muted">
              {job.schedule ?? job.trigger_type}
            </Td>
            <Td className="text-sm text-muted">
              <Ago at={job.created_at} />
            </Td>
            <Td className="text-right">
              <Duration seconds={job.duration_seconds} />
            </Td>
            <Td className="text-right">
              <Money usd={job.cost_usd} />
            </Td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}
