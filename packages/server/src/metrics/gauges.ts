import type { FleetControl } from "@herdctl/core";
import { Counter, Gauge, type Registry } from "prom-client";

export type Gauges = ReturnType<typeof makeGauges>;

/** What stands as it is at the moment when somebody looks. */
export function makeGauges(registry: Registry) {
  const registers = [registry];
  return {
    info: new Gauge({
      name: "herdctl_fleet_info",
      help: "Always 1; the labels tell which fleet this is",
      labelNames: ["fleet", "version"],
      registers,
    }),
    live: new Gauge({
      name: "herdctl_jobs",
      help: "Jobs that are not over: pending ones are the depth of the queue",
      labelNames: ["agent", "status"],
      registers,
    }),
    paused: new Gauge({
      name: "herdctl_agent_paused",
      help: "1 while an agent is paused",
      labelNames: ["agent"],
      registers,
    }),
    approvals: new Gauge({
      name: "herdctl_approvals_open",
      help: "Questions that wait for a person",
      registers,
    }),
    refused: new Counter({
      name: "herdctl_webhook_refused_total",
      help: "Deliveries that were not let in since the fleet started",
      labelNames: ["agent", "schedule", "reason"],
      registers,
    }),
  };
}

export async function measure(gauges: Gauges, control: FleetControl): Promise<void> {
  const { fleet, agents } = await control.status();
  for (const gauge of Object.values(gauges)) gauge.reset();
  gauges.info.set({ fleet: fleet.name, version: fleet.version }, 1);
  for (const { name: agent, pending, waiting, running, paused } of agents) {
    gauges.live.set({ agent, status: "pending" }, pending);
    gauges.live.set({ agent, status: "waiting" }, waiting);
    gauges.live.set({ agent, status: "running" }, running.length);
    gauges.paused.set({ agent }, paused ? 1 : 0);
  }
  gauges.approvals.set((await control.approvals()).length);
  const { refused } = await control.deliveries({ limit: 1 });
  for (const { agent, schedule, reason, count } of refused) {
    gauges.refused.inc({ agent: agent ?? "", schedule: schedule ?? "", reason }, count);
  }
}
