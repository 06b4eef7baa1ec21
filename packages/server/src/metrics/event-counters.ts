import { type FleetControl, type FleetEvent, isFinished, type Job } from "@herdctl/protocol";
import { Counter, Histogram, type Registry } from "prom-client";

export type EventCounters = ReturnType<typeof createEventCounters>;

const durationBucketsSeconds = [1, 5, 15, 60, 300, 900, 1_800, 3_600, 7_200];
const skewBucketsSeconds = [0.05, 0.1, 0.25, 0.5, 1, 5, 30, 300, 3_600];

/** Counters and histograms. They reset when the fleet process restarts. */
export function createEventCounters(registry: Registry) {
  const registers = [registry];
  return {
    jobs: new Counter({
      name: "herdctl_jobs_total",
      help: "Finished jobs by status and outcome",
      labelNames: ["agent", "status", "outcome"],
      registers,
    }),
    duration: new Histogram({
      name: "herdctl_job_duration_seconds",
      help: "Duration of finished jobs",
      labelNames: ["agent"],
      buckets: durationBucketsSeconds,
      registers,
    }),
    cost: new Counter({
      name: "herdctl_cost_usd_total",
      help: "Cost of finished jobs",
      labelNames: ["agent"],
      registers,
    }),
    tokens: new Counter({
      name: "herdctl_tokens_total",
      help: "Tokens used by finished jobs",
      labelNames: ["agent", "kind"],
      registers,
    }),
    skew: new Histogram({
      name: "herdctl_schedule_skew_seconds",
      help: "Delay between a due time and the creation of its job",
      labelNames: ["agent", "schedule"],
      buckets: skewBucketsSeconds,
      registers,
    }),
    notRun: new Counter({
      name: "herdctl_schedule_not_run_total",
      help: "Due times without a job",
      labelNames: ["agent", "schedule", "result", "reason"],
      registers,
    }),
    deliveries: new Counter({
      name: "herdctl_webhook_deliveries_total",
      help: "Webhook deliveries with a valid signature",
      labelNames: ["agent", "schedule", "status"],
      registers,
    }),
    hooks: new Counter({
      name: "herdctl_hook_attempts_total",
      help: "Hook attempts by result",
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
  if ("job" in event && isFinished(event.job.status)) return recordJobEnd(counters, event.job);
  if (event.type === "job:created") return recordScheduleSkew(counters, event.job, control);
  if (event.type === "schedule:not_run") {
    const { agent, schedule, result, reason, count } = event.due;
    counters.notRun.inc({ agent, schedule, result, reason: reason ?? "" }, count ?? 1);
  }
  if (event.type === "delivery:received") {
    const { agent, schedule, status } = event.delivery;
    counters.deliveries.inc({ agent, schedule, status });
  }
  if (event.type === "hook:attempted") {
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

function recordJobEnd(counters: EventCounters, job: Job): void {
  const { agent, status, outcome, duration_seconds, cost_usd, usage } = job;
  counters.jobs.inc({ agent, status, outcome: outcome?.code ?? "" });
  if (duration_seconds !== null) counters.duration.observe({ agent }, duration_seconds);
  if (cost_usd !== null) counters.cost.inc({ agent }, cost_usd);
  if (usage === null) return;
  for (const [kind, field] of Object.entries(tokenKinds)) {
    counters.tokens.inc({ agent, kind }, usage[field]);
  }
}

/** The due time of a job is recorded in the ledger, not in the job. */
async function recordScheduleSkew(
  { skew }: EventCounters,
  { id, agent, schedule, created_at }: Job,
  control: FleetControl,
): Promise<void> {
  if (schedule === null) return;
  const { due_times: records } = await control.schedules.dueTimes({ agent, schedule, limit: 10 });
  const dueTime = records.find((record) => record.job_id === id);
  if (!dueTime) return;
  const delayMs = Date.parse(created_at) - Date.parse(dueTime.due_at);
  skew.observe({ agent, schedule }, Math.max(0, delayMs) / 1000);
}
