import type { FleetControl } from "@herdctl/protocol";
import { Counter, Gauge, type Registry } from "prom-client";

export type Gauges = ReturnType<typeof createGauges>;

/** Metrics that are computed when they are scraped. */
export function createGauges(registry: Registry) {
  const registers = [registry];
  return {
    info: new Gauge({
      name: "herdctl_fleet_info",
      help: "Always 1; the labels identify the fleet",
      labelNames: ["fleet", "version"],
      registers,
    }),
    jobs: new Gauge({
      name: "herdctl_jobs",
      help: "Unfinished jobs by status; pending jobs are the queue depth",
      labelNames: ["agent", "status"],
      registers,
    }),
    paused: new Gauge({
      name: "herdctl_agent_paused",
      help: "1 if the agent is paused, otherwise 0",
      labelNames: ["agent"],
      registers,
    }),
    approvals: new Gauge({
      name: "herdctl_approvals_open",
      help: "Open permission requests and questions",
      registers,
    }),
    refused: new Counter({
      name: "herdctl_webhook_refused_total",
      help: "Refused webhook deliveries since the fleet started",
      labelNames: ["agent", "schedule", "reason"],
      registers,
    }),
  };
}

export async function updateGauges(gauges: Gauges, control: FleetControl): Promise<void> {
  const { fleet, agents } = await control.status();
  for (const gauge of Object.values(gauges)) gauge.reset();
  gauges.info.set({ fleet: fleet.name, version: fleet.version }, 1);
  for (const { name: agent, pending, waiting, running, paused } of agents) {
    gauges.jobs.set({ agent, status: "pending" }, pending);
    gauges.jobs.set({ agent, status: "waiting" }, waiting);
    gauges.jobs.set({ agent, status: "running" }, running.length);
    gauges.paused.set({ agent }, paused ? 1 : 0);
  }
  gauges.approvals.set((await control.approvals.list()).length);
  const { refused } = await control.deliveries.list({ limit: 1 });
  for (const { agent, schedule, reason, count } of refused) {
    gauges.refused.inc({ agent: agent ?? "", schedule: schedule ?? "", reason }, count);
  }
}
