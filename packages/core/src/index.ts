export type { ChatLinkStatus } from "./chat/chat-link.ts";
export { chatCommands } from "./chat/commands.ts";
export {
  type ButtonPress,
  type ChatCheck,
  ChatError,
  type ChatLinkOptions,
  type ChatPlatform,
  type ChatPlatforms,
  type ChatSettings,
  type ChoiceMenu,
  type Connector,
  type ConnectorListener,
  type EarlierMessage,
  type IncomingCommand,
  type IncomingMessage,
  type OutgoingPost,
} from "./chat/connector.ts";
export { fetchBounded } from "./chat/fetch-bounded.ts";
export { listenRules } from "./chat/listen-rules.ts";
export { type Allowance, allowances } from "./config/allowances.ts";
export type { Environment } from "./config/environment.ts";
export { findFleetFile, locateFleetFile, stateDirOf } from "./config/find.ts";
export { type JsonSchema, jsonSchema } from "./config/json-schema.ts";
export { type Fleet, type LoadedFleet, loadFleet } from "./config/load.ts";
export type { ResolvedAgent, WorkingDirectory } from "./config/resolve.ts";
export { parseDuration } from "./config/schema/quantities.ts";
export { passwordOf } from "./config/secret-values.ts";
export { isLoopback } from "./config/server-tokens.ts";
export { type ShownConfig, type ShownValue, showConfig } from "./config/show.ts";
export { usedVariables } from "./config/used-variables.ts";
export { type Check, type CheckGroup, checkGroups } from "./doctor/check.ts";
export { type ExamineOptions, examine } from "./doctor/examine.ts";
export type { RunningFleet } from "./doctor/fleet/running.ts";
export type { SetUp } from "./doctor/set-up.ts";
export { formatProblem, type Place, type Problem, ProblemsError } from "./document/problem.ts";
export { type ErrorCode, errorTable, exitCodes } from "./errors/table.ts";
export { UserError } from "./errors/user-error.ts";
export {
  AgentRunner,
  type RunnerOptions,
  type RunnerResult,
  runAgent,
} from "./fleet/agent-runner.ts";
export { type BudgetLine, type BudgetView, viewBudget } from "./fleet/budget-view.ts";
export type {
  AgentStatus,
  DeliveryList,
  FleetControl,
  FleetEvent,
  FleetStatus,
  JobOutput,
  OutputOptions,
  ShutdownOptions,
} from "./fleet/control.ts";
export {
  type CostLine,
  type CostRequest,
  type CostSum,
  type CostView,
  viewCosts,
} from "./fleet/cost-view.ts";
export type { CreatedToken, FleetAccess, NewAccessToken } from "./fleet/fleet-access.ts";
export type { FleetManagerOptions } from "./fleet/fleet-life.ts";
export { FleetManager } from "./fleet/fleet-manager.ts";
export type { FleetMcp } from "./fleet/fleet-mcp.ts";
export type { FleetPort, WantedPort } from "./fleet/fleet-port.ts";
export { viewAgents } from "./fleet/fleet-status.ts";
export type { FleetWebhooks } from "./fleet/fleet-webhooks.ts";
export { artifactOf, artifactsOf } from "./fleet/kept-files.ts";
export { type FleetLog, type LogOptions, openFleetLog } from "./fleet/log.ts";
export { knownNodeId } from "./fleet/nodes/known-node.ts";
export { listNodes } from "./fleet/nodes/list-nodes.ts";
export { migrateStore } from "./fleet/nodes/migrate-store.ts";
export type { NodeOptions } from "./fleet/nodes/node-options.ts";
export type { NodeView } from "./fleet/nodes/node-view.ts";
export type { JobWatch } from "./fleet/perform-job.ts";
export { type ResumeCommand, resumeCommand } from "./fleet/resume-command.ts";
export { type ScheduleView, viewSchedules } from "./fleet/schedule-view.ts";
export { type SessionView, viewSession } from "./fleet/session-view.ts";
export type { BuildEvent } from "./image/build-events.ts";
export { type BuildOptions, type BuiltImage, buildImage } from "./image/build-image.ts";
export type { Admission, TriggerRequest } from "./queue/admit.ts";
export type { AskPerson } from "./runner/approval-desk.ts";
export { classify } from "./runner/classify.ts";
export { RunnerError, SDKError } from "./runner/errors.ts";
export type { Evidence } from "./runner/evidence.ts";
export { eventsOf, type JobEvent } from "./runner/job-event.ts";
export { type ExecutorOptions, JobExecutor } from "./runner/job-executor.ts";
export { type OutcomeFacts, outcomes } from "./runner/outcomes.ts";
export type { RunOrder } from "./runner/run-order.ts";
export type { RunReport } from "./runner/run-report.ts";
export { CLIRuntime } from "./runner/runtime/cli-runtime.ts";
export { ContainerManager } from "./runner/runtime/container-manager.ts";
export { ContainerRunner } from "./runner/runtime/container-runner.ts";
export {
  type ContainerUser,
  type DockerConfig,
  resolveDockerConfig,
} from "./runner/runtime/docker-config.ts";
export { RuntimeFactory, type RuntimeFactoryOptions } from "./runner/runtime/factory.ts";
export type {
  ExecuteOptions,
  RuntimeInterface,
  SDKMessage,
  SessionChoice,
} from "./runner/runtime/interface.ts";
export { SDKRuntime } from "./runner/runtime/sdk-runtime.ts";
export { SessionFileRuntime } from "./runner/runtime/session-file-runtime.ts";
export type { SparePool, SparePoolOptions } from "./runner-process/spare.ts";
export {
  type AccessToken,
  accessTokenSchema,
  scopeSchema,
  tokenPrefix,
} from "./state/access-token.ts";
export { type Approval, approvalSchema, type Word } from "./state/approval.ts";
export { type Artifact, keptArtifacts } from "./state/artifacts.ts";
export {
  type AuditPage,
  type AuditQuery,
  type StoredAuditRecord,
  storedAuditRecordSchema,
} from "./state/audit.ts";
export { auditActions } from "./state/audit-actions.ts";
export { type Attachment, type Platform, platformSchema, type Room } from "./state/chat.ts";
export type { DeliveryPage, DeliveryQuery, HookQuery } from "./state/contract.ts";
export {
  type Delivery,
  type DeliveryWithBody,
  deliverySchema,
  deliveryWithBodySchema,
} from "./state/delivery.ts";
export { type DueRecord, dueRecordSchema, type ScheduleName } from "./state/due-time.ts";
export { type HookRun, hookRunSchema } from "./state/hook-run.ts";
export { type Actor, identities } from "./state/identity.ts";
export {
  type Attempt,
  attemptSchema,
  type Job,
  type JobChange,
  jobSchema,
  jobStatusSchema,
  type NewJob,
  type TriggerType,
  triggerTypeSchema,
} from "./state/job.ts";
export { isFinished, type JobStatus } from "./state/job-status.ts";
export type { JobPage, JobQuery } from "./state/job-store.ts";
export { lockHolder } from "./state/lock.ts";
export { type Login, loginSchema } from "./state/login.ts";
export { Memory, memoryDir, type Note } from "./state/memory.ts";
export { type NodeRole, nodeRoleSchema } from "./state/node.ts";
export {
  type Outcome,
  type OutcomeCode,
  outcomeCodeSchema,
  outcomeCodes,
  outcomeSchema,
} from "./state/outcome.ts";
export { type OutputLine, readOutput } from "./state/output-reader.ts";
export { assertOwned } from "./state/ownership.ts";
export { isAlive } from "./state/process-identity.ts";
export type { DuePage, DueQuery } from "./state/schedule-store.ts";
export type { Scope } from "./state/scopes.ts";
export { type Session, type SessionInfo, sessionSchema } from "./state/session.ts";
export {
  appendJobOutput,
  createJob,
  type StateLike,
  saveSessionInfo,
  updateJob,
} from "./state/shorthand.ts";
export type { Amounts } from "./state/spending.ts";
export { type OpenOptions, StateManager } from "./state/state-manager.ts";
export type { Receipt } from "./triggers/webhook/receive-delivery.ts";
export type { Refusal } from "./triggers/webhook/refusals.ts";
export { TooManyDeliveries, type WebhookDoor } from "./triggers/webhook/webhook-door.ts";
export type { WebhookTarget } from "./triggers/webhook/webhook-schedule.ts";
