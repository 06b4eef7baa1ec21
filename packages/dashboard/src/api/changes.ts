import type { FleetEvent, RouteName } from "@herdctl/server/contract";

const ofJobs: RouteName[] = ["status", "agents", "agent", "jobs", "job", "chain", "costs"];
const ofEndedJobs: RouteName[] = [
  ...ofJobs,
  "budget",
  "sessions",
  "hooks",
  "schedules",
  "dueTimes",
];

/** Which answers an event makes old. */
export const changedBy = {
  "job:created": [...ofJobs, "schedules", "dueTimes"],
  "job:started": [...ofJobs, "sessions"],
  "job:output": [],
  "job:waiting": [...ofJobs, "budget"],
  "job:completed": ofEndedJobs,
  "job:failed": ofEndedJobs,
  "job:cancelled": ofEndedJobs,
  "job:skipped": ofEndedJobs,
  "approval:asked": ["approvals", "status", "job"],
  "approval:answered": ["approvals", "status", "job"],
  "hook:tried": ["hooks"],
  "delivery:received": ["deliveries"],
  "schedule:not_run": ["schedules", "dueTimes", "status"],
  "schedule:switched": ["schedules", "status"],
  "agent:paused": ["status", "agents", "agent"],
  "agent:resumed": ["status", "agents", "agent"],
  "fleet:reloaded": ["status", "agents", "agent", "schedules", "configuration", "budget", "chat"],
  "fleet:problem": ["status"],
  "fleet:stopping": ["status"],
} satisfies Record<FleetEvent["type"], RouteName[]>;
