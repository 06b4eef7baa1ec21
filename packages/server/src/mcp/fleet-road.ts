import type { AgentStatus, FleetControl, FleetStatus } from "@herdctl/core";

/** The way to a fleet, taken anew for each question: it may have been restarted since the last. */
export interface FleetRoad {
  read<T>(question: (fleet: FleetReading) => Promise<T>): Promise<T>;
  /** For what only a running fleet can do. */
  act<T>(question: (fleet: FleetControl) => Promise<T>): Promise<T>;
}

/** What can be known whether or not a fleet runs. */
export interface FleetReading
  extends Pick<FleetControl, "wait" | "job" | "jobs" | "output" | "approvals" | "schedules"> {
  status(): Promise<{ fleet: FleetStatus["fleet"] | null; agents: AgentStatus[] }>;
}
