/**
 * The public API. docs/reference/library.md lists it, and docs/reference/public-api.txt is checked.
 * The chat connectors need nothing else. Other packages of herdctl also use
 * `@herdctl/core/internal`, which may change at any time.
 */
export {
  type AgentConfig,
  AgentConfigSchema,
  DockerSchema,
  type Environment,
  type Fleet,
  type LoadedFleet,
  loadFleet,
  McpServerSchema,
  PermissionsSchema,
  type ResolvedAgent,
  type ResolvedAgentConfig,
  type RuntimeType,
} from "@herdctl/config";
export {
  type AccessToken,
  type Admission,
  type AgentStatus,
  type Approval,
  type ApprovalDecision,
  type Artifact,
  type Attachment,
  type Attempt,
  type AuditPage,
  type AuditQuery,
  type BudgetIncrease,
  type BudgetView,
  type ChatConnectionStatus,
  type ChatPlatformName,
  type ChatRoom,
  type ClaudeMessage,
  type ConfigView,
  type CostQuery,
  type CostView,
  type CreatedToken,
  type Delivery,
  type DeliveryListView,
  type DeliveryQuery,
  type DeliveryWithBody,
  type DueTimePage,
  type DueTimeQuery,
  type DueTimeRecord,
  type ErrorCode,
  errorTable,
  type FleetControl,
  type FleetEvent,
  type FleetEventListener,
  type FleetEventOf,
  type FleetEventType,
  type FleetStatus,
  type HookQuery,
  type HookRun,
  isFinished,
  type Job,
  type JobChange,
  type JobEvent,
  type JobOutput,
  type JobPage,
  type JobQuery,
  type JobStatus,
  type JobWithAttempts,
  type Login,
  type NewAccessToken,
  type NewJob,
  type NodeView,
  type Note,
  type Outcome,
  type OutcomeCode,
  type OutputOptions,
  outcomes,
  type Problem,
  ProblemsError,
  type ScheduleRef,
  type ScheduleView,
  type Scope,
  type Session,
  type SessionInfo,
  type SessionView,
  type ShutdownOptions,
  type StoredAuditRecord,
  type TriggerRequest,
  type TriggerType,
  toJobEvents,
  UserError,
} from "@herdctl/protocol";
export { connectFleet, type FleetAddress, type FleetClient } from "@herdctl/protocol/client";
export { ContainerManager } from "./docker/container-manager.ts";
export {
  type ContainerUser,
  type DockerConfig,
  resolveDockerConfig,
} from "./docker/docker-config.ts";
export { FleetManager } from "./fleet/fleet-manager.ts";
export type { FleetManagerOptions } from "./fleet/lifecycle.ts";
export type {
  Claimant,
  SourceClaim,
  WorkItem,
} from "./jobs/admission/work-item.ts";
export { version } from "./lib/version.ts";
export { RunnerError, SDKError } from "./runner/contract/errors.ts";
export { JobExecutor, type JobExecutorOptions } from "./runner/execution/job-executor.ts";
export { CLIRuntime } from "./runner/runtimes/cli-runtime.ts";
export { ContainerRunner } from "./runner/runtimes/container-runner.ts";
export { RuntimeFactory, type RuntimeFactoryOptions } from "./runner/runtimes/runtime-factory.ts";
export type {
  ExecuteOptions,
  ExecuteRequest,
  RuntimeInterface,
  SDKMessage,
} from "./runner/runtimes/runtime-interface.ts";
export { SDKRuntime } from "./runner/runtimes/sdk-runtime.ts";
export { SessionFileRuntime } from "./runner/runtimes/session-file-runtime.ts";
export {
  AgentRunner,
  type RunnerOptions,
  type RunnerResult,
  runAgent,
} from "./standalone/agent-runner.ts";
export type { JobCallbacks } from "./standalone/run-job.ts";
export {
  appendJobOutput,
  createJob,
  type StateLike,
  saveSessionInfo,
  updateJob,
} from "./store/state-functions.ts";
export { type OpenStateOptions, StateManager } from "./store/state-manager.ts";
export { chatCommands } from "./triggers/chat/commands.ts";
export {
  type ButtonPress,
  type ChatCheck,
  ChatError,
  type ChatPlatform,
  type ChatPlatforms,
  type ChatSettings,
  type ChoiceMenu,
  type Connector,
  type ConnectorListener,
  type ConnectorOptions,
  type EarlierMessage,
  type IncomingCommand,
  type IncomingMessage,
  type OutgoingPost,
} from "./triggers/chat/connector.ts";
export { downloadAttachment } from "./triggers/chat/images.ts";
export type {
  ClaimResult,
  ReleaseOptions,
  SettleResult,
  WorkResult,
  WorkSource,
} from "./triggers/work-sources/work-source.ts";
