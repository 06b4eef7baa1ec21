/** The part of the API contract that browsers use: the routes and their types. */

export {
  type AgentStatus,
  type Approval,
  type Attempt,
  type BudgetView,
  type ClaudeMessage,
  type ConfigValueView,
  type ConfigView,
  type Delivery,
  type DueTimeRecord,
  type ErrorBody,
  escapeInvisible,
  escapeInvisibleInline,
  type FleetEvent,
  type FleetStatus,
  formatInputFields,
  formatPermissionRule,
  type InputField,
  type Job,
  type JobOutput,
  type NodeView,
  type PermissionRule,
  type RouteName,
  routes,
  type ScheduleView,
  type SessionView,
} from "@herdctl/protocol";
export type { BodyOf, QueryOf, ResponseOf } from "./contract/define-endpoint.ts";
export type { Endpoints } from "./contract/endpoints.ts";
export type { TimelineEntry } from "./contract/timeline.ts";
