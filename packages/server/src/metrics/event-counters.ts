import type { FleetControl, FleetEvent, Job } from "@herdctl/core";
import { isFinished } from "@herdctl/core";
import { Counter, Histogram, type Registry } from "prom-client";

export type EventCounters = ReturnType<typeof makeCounters>;

const durations = [1, 5, 15, 60, 300, 900, 1_800, 3_600, 7_200];
const skews = [0.05, 0.1, 0.25, 0.5, 1, 5, 30, 300, 3_600];

/** What adds up; all of it begins at nothing with each fleet process. */
export function makeCounters(registry: Registry) {
  const registers = [registry];
  return {
    jobs: new Counter({
      name: "herdctl_jobs_total",
      help: "Jobs that have ended, by how",
      labelNames: ["agent", "status", "outcome"],
      registers,
    }),
    duration: new Histogram({
      name: "herdctl_job_duration_seconds",
      help: "From the start of a job to its end",
      labelNames: ["agent"],
      buckets: durations,
      registers,
    }),
    cost: new Counter({
      name: "herdctl_cost_usd_total",
      help: "What jobs that have ended cost",
      labelNames: ["agent"],
      registers,
    }),
    tokens: new Counter({
      name: "herdctl_tokens_total",
      help: "Tokens of jobs that have ended",
      labelNames: ["agent", "kind"],
      registers,
    }),
    skew: new Histogram({
      name: "herdctl_schedule_skew_seconds",
      help: "From a due time to its job",
      labelNames: ["agent", "schedule"],
      buckets: skews,
      registers,
    }),
    notRun: new Counter({
      name: "herdctl_schedule_not_run_total",
      help: "Due times that no job came of",
      labelNames: ["agent", "schedule", "result", "reason"],
      registers,
    }),
    deliveries: new Counter({
      name: "herdctl_webhook_deliveries_total",
      help: "Deliveries that proved where they came from",
      labelNames: ["agent", "schedule", "verdict"],
      registers,
    }),
    hooks: new Counter({
      name: "herdctl_hook_tries_total",
      help: "Tries of hooks, by what came of them",
      labelNames: ["agent", "type", "status"],
      registers,
    }),
  };
}

export async function count(
  counters: EventCounters,
  event: FleetEvent,
  control: FleetControl,
): Promise<void> {
  if ("job" in event && isFinished(event.job.status)) return countEnd(counters, event.job);
  if (event.type === "job:created") return countDue(counters, event.job, control);
  if (event.type === "schedule:not_run") {
    const { agent, schedule, result, reason, count: times } = event.due;
    counters.notRun.inc({ agent, schedule, result, reason: reason ?? "" }, times ?? 1);
  }
  if (event.type === "delivery:received") {
    const { agent, schedule, verdict } = event.delivery;
    counters.deliveries.inc({ agent, schedule, verdict });
  }
  if (event.type === "hook:tried") {
    const { agent, type, status } = event.hook;
    counters.hooks.inc({ agent, type, status });
  }
}

const tokenKinds = {
  input: "input_tokens",
  output: "output_tokens",
  cache_read: "cache_read_input_tokens",
  cache_creation: "cache_creation_input_tokens",
} as const;

function countEnd(counters: EventCounters, job: Job): void {
  const { agent, status, outcome, duration_seconds, cost_usd, usage } = job;
  counters.jobs.inc({ agent, status, outcome: outcome?.code ?? "" });
  if (duration_seconds !== null) counters.duration.observe({ agent }, duration_seconds);
  if (cost_usd !== null) counters.cost.inc({ agent }, cost_usd);
  if (usage === null) return;
  for (const [kind, field] of Object.entries(tokenKinds)) {
    counters.tokens.inc({ agent, kind }, usage[field]);
  }
}

/** The job does not say which due time brought it; the ledger does. */
async function countDue(
  { skew }: EventCounters,
  { id, agent, schedule, created_at }: Job,
  control: FleetControl,
): Promise<void> {
  if (schedule === null) return;
  const { records } = await control.dueTimes({ agent, schedule, limit: 10 });
  const due = records.find((record) => record.job_id === id);
  if (!due) return;
  const late = Date.parse(created_at) - Date.parse(due.due_at);
  skew.observe({ agent, schedule }, Math.max(0, late) / 1000);
}
