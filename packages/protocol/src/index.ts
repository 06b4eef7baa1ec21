export type { CreatedToken, NewAccessToken } from "./api/access-tokens.ts";
export type { BudgetUsage, BudgetView } from "./api/budget.ts";
export type { ChatConnectionStatus } from "./api/chat.ts";
export type {
  ApplyEditOptions,
  ConfigChange,
  ConfigEdit,
  ConfigEditPreview,
} from "./api/config-edit.ts";
export type { ConfigValueView, ConfigView } from "./api/configuration.ts";
export type {
  CostDimension,
  CostQuery,
  CostRow,
  CostTotals,
  CostView,
  TokenCounts,
} from "./api/costs.ts";
export type { DeliveryPage, DeliveryQuery, HookQuery, RefusalCount } from "./api/deliveries.ts";
export type {
  AgentStatus,
  AgentsApi,
  AnswerOptions,
  ApprovalsApi,
  ArtifactsApi,
  AuditApi,
  BudgetApi,
  BudgetIncrease,
  CancelAllOptions,
  CancelAllResult,
  CancelOptions,
  ChatApi,
  ConfigApi,
  CostsApi,
  DeliveriesApi,
  DeliveryListView,
  FleetControl,
  FleetEvent,
  FleetEventDetails,
  FleetEventListener,
  FleetEventOf,
  FleetEventType,
  FleetStatus,
  HooksApi,
  JobOutput,
  JobsApi,
  JobWithAttempts,
  LoginsApi,
  NodesApi,
  NotesApi,
  OutputOptions,
  PushApi,
  PushSubscriptionInfo,
  RetryOptions,
  RulesApi,
  SchedulesApi,
  SessionsApi,
  ShutdownOptions,
  SignalOptions,
  TokensApi,
} from "./api/fleet-control.ts";
export type { JobPage, JobQuery } from "./api/jobs.ts";
export type { NodeView } from "./api/nodes.ts";
export type { Note } from "./api/notes.ts";
export type { RewindOptions, RewindPoint, RewindResult } from "./api/rewind.ts";
export type { DueTimePage, DueTimeQuery, ScheduleView } from "./api/schedules.ts";
export type { JobSearchHit, JobSearchPage, JobSearchQuery } from "./api/search.ts";
export type { SessionView } from "./api/sessions.ts";
export { type Admission, idempotencyKeyPattern, type TriggerRequest } from "./api/trigger.ts";
export type { ErrorBody } from "./client/error-from-response.ts";
export {
  assertFleetOwnership,
  envFileName,
  findFleetFile,
  findFleetFileUnchecked,
  stateDirOf,
} from "./client/find-fleet.ts";
export {
  assertOwnership,
  type CurrentUser,
  checkPathOwnership,
  isInSafeDirectory,
  readCurrentUser,
  safeDirectoryVariable,
} from "./client/path-ownership.ts";
export { type HttpMethod, type RouteName, routes } from "./client/routes.ts";
export { isSocketPathTooLong } from "./client/socket-path.ts";
export {
  type ErrorCode,
  type ErrorDefinition,
  errorTable,
  exitCodes,
} from "./errors/error-table.ts";
export {
  comparePositions,
  formatPath,
  formatProblem,
  type Problem,
  ProblemsError,
  type SourcePosition,
} from "./errors/problem.ts";
export { UserError } from "./errors/user-error.ts";
export { ActivityTracker } from "./events/activity.ts";
export type { ClaudeMessage } from "./events/claude-message.ts";
export { contentText, type JobEvent, toJobEvents } from "./events/job-event.ts";
export { displayToolName, shortenPath, summarizeToolCall } from "./events/tool-summary.ts";
export { errorCode, hasErrorCode } from "./lib/error-code.ts";
export { Mutex } from "./lib/mutex.ts";
export { raceTimeout } from "./lib/race-timeout.ts";
export { type OutcomeDefinition, outcomes } from "./outcome-table.ts";
export type { AccessToken } from "./records/access-token.ts";
export { type AllowScope, allowScopes } from "./records/allow-scopes.ts";
export type { Approval, ApprovalDecision, ApprovalRequest } from "./records/approval.ts";
export {
  escapeInvisible,
  escapeInvisibleInline,
  formatInput,
  formatInputFields,
  type InputField,
  parseChoiceNumbers,
} from "./records/approval-text.ts";
export type { Artifact } from "./records/artifact.ts";
export type {
  AuditDetails,
  AuditEntry,
  AuditPage,
  AuditQuery,
  StoredAuditRecord,
} from "./records/audit.ts";
export { type AuditAction, auditActions } from "./records/audit-actions.ts";
export type { Chain, ChainSpending } from "./records/chain.ts";
export type {
  Attachment,
  ChatMessage,
  ChatMessageChange,
  ChatPlatformName,
  ChatPost,
  ChatRoom,
  Conversation,
  ConversationChange,
  NewChatMessage,
} from "./records/chat.ts";
export type {
  AcceptedDelivery,
  Delivery,
  DeliveryWithBody,
  NewDelivery,
} from "./records/delivery.ts";
export type {
  DueTimeRecord,
  MissedReason,
  ScheduleCursor,
  ScheduleRef,
} from "./records/due-time.ts";
export { type HookEvent, hookEvents } from "./records/hook-events.ts";
export type { HookCause, HookRun, HookRunEnd, PlannedHook } from "./records/hook-run.ts";
export type {
  Attempt,
  AttemptResult,
  Job,
  JobChange,
  NewJob,
  NodeAssignment,
  SessionHomeKind,
  TriggerType,
  UnfinishedJob,
} from "./records/job.ts";
export type { JobGit } from "./records/job-git.ts";
export {
  allowedTransitions,
  isFinished,
  type JobStatus,
  jobStatuses,
} from "./records/job-status.ts";
export type { Login } from "./records/login.ts";
export type { NewNode, Node, NodeRole } from "./records/node.ts";
export { nodeRoles } from "./records/node-roles.ts";
export type { Outcome, OutcomeCode } from "./records/outcome.ts";
export type { PermissionRule, ToolRule } from "./records/permission-rule.ts";
export type { ProcessIdentity } from "./records/process-identity.ts";
export type { NewPushSubscription, PushSubscriptionRecord } from "./records/push-subscription.ts";
export type { Question, Reply } from "./records/question.ts";
export { type Allowance, allowances, type Scope, scopes } from "./records/scopes.ts";
export type {
  Session,
  SessionInfo,
  SessionLease,
  SessionLeaseHolder,
  SessionLeaseResult,
} from "./records/session.ts";
export type { BudgetAmounts, BudgetDay, DailySpending, FleetSpending } from "./records/spending.ts";
export type { Usage } from "./records/usage.ts";
export { explainWait, type WaitExplanation, type WaitFacts } from "./text/explain-wait.ts";
export { createFence, type Fence, fenceForPrompt } from "./text/fence.ts";
export { formatPermissionRule, formatToolRule } from "./text/format-tool-rule.ts";
