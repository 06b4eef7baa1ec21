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
  escapeInvisible,
  escapeInvisibleInline,
  type FleetEvent,
  type FleetStatus,
  formatInputFields,
  type InputField,
  type Job,
  type JobOutput,
  type NodeView,
  type ScheduleView,
  type SessionView,
} from "@herdctl/protocol";
export type { BodyOf, QueryOf, ResponseOf } from "./contract/define-endpoint.ts";
export type { Endpoints } from "./contract/endpoints.ts";
export type { ErrorBody } from "./contract/errors.ts";
export { type RouteName, routes } from "./contract/routes.ts";
export type { TimelineEntry } from "./contract/timeline.ts";
