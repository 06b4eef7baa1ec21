import type { FleetEvent, RouteName } from "@herdctl/server/contract";

const jobRoutes: RouteName[] = ["status", "agents", "agent", "jobs", "job", "chain", "costs"];
const endedJobRoutes: RouteName[] = [
  ...jobRoutes,
  "budget",
  "sessions",
  "hooks",
  "schedules",
  "dueTimes",
];

/** The routes whose cached responses each event makes stale. */
export const invalidatedRoutes = {
  "job:created": [...jobRoutes, "schedules", "dueTimes"],
  "job:started": [...jobRoutes, "sessions"],
  "job:output": [],
  "job:waiting": [...jobRoutes, "budget"],
  "job:completed": endedJobRoutes,
  "job:failed": endedJobRoutes,
  "job:cancelled": endedJobRoutes,
  "job:skipped": endedJobRoutes,
  "approval:requested": ["approvals", "status", "job"],
  "approval:answered": ["approvals", "rules", "status", "job"],
  "hook:attempted": ["hooks"],
  "delivery:received": ["deliveries"],
  "schedule:not_run": ["schedules", "dueTimes", "status"],
  "schedule:toggled": ["schedules", "status"],
  "agent:paused": ["status", "agents", "agent"],
  "agent:resumed": ["status", "agents", "agent"],
  "fleet:reloaded": ["status", "agents", "agent", "schedules", "configuration", "budget", "chat"],
  "fleet:problem": ["status"],
  "fleet:stopping": ["status"],
} satisfies Record<FleetEvent["type"], RouteName[]>;
