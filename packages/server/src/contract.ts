/** What a page in a browser shares with the fleet: where each call is, and the types of what is said. */

export type {
  AgentStatus,
  Approval,
  Attempt,
  BudgetView,
  Delivery,
  DueRecord,
  FleetEvent,
  FleetStatus,
  Job,
  JobOutput,
  NodeView,
  ScheduleView,
  SDKMessage,
  SessionView,
  ShownConfig,
  ShownValue,
} from "@herdctl/core";
export { type InputField, inputFields, visible, visibleName } from "@herdctl/core/approval-text";
export type { BodyOf, QueryOf, ResponseOf } from "./contract/endpoint.ts";
export type { Endpoints } from "./contract/endpoints.ts";
export type { Failure } from "./contract/errors.ts";
export { type RouteName, routes } from "./contract/routes.ts";
export type { TimelineEntry } from "./contract/timeline.ts";
