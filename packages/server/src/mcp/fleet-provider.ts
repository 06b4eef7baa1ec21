import type { AgentStatus, FleetControl, FleetStatus } from "@herdctl/protocol";

/** Provides access to the fleet for each call, because the fleet may restart between calls. */
export interface FleetProvider {
  read<T>(action: (fleet: FleetReader) => Promise<T>): Promise<T>;
  /** For actions that need a running fleet. */
  control<T>(action: (fleet: FleetControl) => Promise<T>): Promise<T>;
}

/** Information that is available even if no fleet is running. */
export interface FleetReader {
  readonly jobs: Pick<FleetControl["jobs"], "get" | "list" | "wait" | "output">;
  readonly approvals: Pick<FleetControl["approvals"], "list">;
  readonly schedules: Pick<FleetControl["schedules"], "list">;
  status(): Promise<{ fleet: FleetStatus["fleet"] | null; agents: AgentStatus[] }>;
}
