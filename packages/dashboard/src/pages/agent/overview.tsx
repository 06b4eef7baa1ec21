import type { AgentStatus } from "@herdctl/server/contract";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import type { ResponseOfRoute } from "../../api/call-fleet.ts";
import { useFleetQuery } from "../../api/queries.ts";
import { useTimeline } from "../../api/use-timeline.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { formatDurationAxis, formatMoneyAxis } from "../../ui/format-quantities.ts";
import { Loading } from "../../ui/loading.tsx";
import { OutcomeBadge } from "../../ui/outcome-badge.tsx";
import { Panel } from "../../ui/panel.tsx";
import { sentenceCase } from "../../ui/sentence-case.ts";
import { Table, Td, Th } from "../../ui/table.tsx";
import { Duration, Money, RelativeTime } from "../../ui/time.tsx";
import { computeTrends } from "./compute-trends.ts";
import { LiveRun } from "./live-run.tsx";
import { TrendChart } from "./trend-chart.tsx";

const monthHours = 30 * 24;

export function Overview({ agent }: { agent: AgentStatus }) {
  const { data } = useFleetQuery("jobs", {
    query: { agent: agent.name, limit: 15, skipped: "false" },
  });
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
            View all
          </Link>
        }
      >
        {data ? <Jobs jobs={data.jobs} /> : <Loading />}
      </Panel>
    </div>
  );
}

function Trends({ agent }: { agent: string }) {
  const { data } = useTimeline(monthHours, agent);
  const { times, costs, durations } = useMemo(() => computeTrends(data?.jobs ?? []), [data]);
  if (times.length < 2) return null;
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <Panel title="Cost per run" aside="Last 30 days">
        <TrendChart
          label={`Cost of the last ${times.length} runs`}
          times={times}
          values={costs}
          colour="--accent"
          formatAxis={formatMoneyAxis}
        />
      </Panel>
      <Panel title="Duration per run" aside="Last 30 days">
        <TrendChart
          label={`Duration of the last ${times.length} runs`}
          times={times}
          values={durations}
          colour="--live"
          formatAxis={formatDurationAxis}
        />
      </Panel>
    </div>
  );
}

function Jobs({ jobs }: { jobs: ResponseOfRoute<"jobs">["jobs"] }) {
  if (jobs.length === 0) {
    return (
      <div className="p-3">
        <EmptyState title="No jobs yet">Trigger the agent, or wait for its next run.</EmptyState>
      </div>
    );
  }
  return (
    <Table label="Latest jobs">
      <thead>
        <tr>
          <Th>Outcome</Th>
          <Th>Job</Th>
          <Th>Trigger</Th>
          <Th>Created</Th>
          <Th className="text-right">Duration</Th>
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
              {job.schedule ?? sentenceCase(job.trigger_type)}
            </Td>
            <Td className="text-sm text-muted">
              <RelativeTime at={job.created_at} />
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
