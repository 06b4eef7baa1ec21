/**
 * For herdctl's other packages: the public API and what only they use. It may change at any time.
 */
export {
  isLoopback,
  type JsonSchema,
  jsonSchema,
  listUsedVariables,
  parseDuration,
  passwordOf,
  viewConfig,
  type WorkingDirectory,
} from "@herdctl/config";
export {
  type Allowance,
  allowances,
  assertOwnership,
  auditActions,
  type BudgetAmounts,
  type BudgetUsage,
  type ConfigValueView,
  type CostRow,
  type CostTotals,
  type DeliveryPage,
  exitCodes,
  findFleetFile,
  findFleetFileUnchecked,
  formatProblem,
  type NodeRole,
  type OutcomeDefinition,
  type RefusalCount,
  type SourcePosition,
  stateDirOf,
} from "@herdctl/protocol";
export {
  accessTokenSchema,
  approvalSchema,
  attemptSchema,
  chatPlatformSchema,
  deliverySchema,
  deliveryWithBodySchema,
  dueTimeRecordSchema,
  hookRunSchema,
  jobSchema,
  jobStatusSchema,
  loginSchema,
  nodeRoleSchema,
  outcomeCodeSchema,
  outcomeCodes,
  outcomeSchema,
  scopeSchema,
  sessionSchema,
  storedAuditRecordSchema,
  tokenPrefix,
  triggerTypeSchema,
} from "@herdctl/protocol/schemas";
export { type BackupResult, createBackup } from "./backup/create-backup.ts";
export { restoreBackup } from "./backup/restore-backup.ts";
export { hasSubscription } from "./claude/credential.ts";
export { buildResumeCommand, type ResumeCommand } from "./claude/resume-command.ts";
export { listNodes } from "./cluster/list-nodes.ts";
export { migrateStore } from "./cluster/migrate-store.ts";
export type { NodeOptions } from "./cluster/node-identity.ts";
export { readNodeId } from "./cluster/node-identity.ts";
export { ranOnOtherNode, readJobOutput } from "./cluster/shipped-output.ts";
export { dockerVersion } from "./docker/engine.ts";
export { findDockerParts, removeDockerParts } from "./docker/installed-parts.ts";
export type { DoctorTarget } from "./doctor/check.ts";
export { type Check, type CheckGroup, checkGroups } from "./doctor/check.ts";
export { findSignInProblems } from "./doctor/claude/binary.ts";
export type { RunningFleet } from "./doctor/fleet/running-fleet.ts";
export { findRootProblems } from "./doctor/root-mode.ts";
export { type DoctorOptions, runDoctor } from "./doctor/run-doctor.ts";
export type { FleetAccess } from "./fleet/access.ts";
export type { FleetHttpOptions, FleetMcpOptions, HttpServerOptions } from "./fleet/http-options.ts";
export { type FleetLog, type FleetLogOptions, openFleetLog } from "./fleet/log.ts";
export { listJobArtifacts, openJobArtifact } from "./fleet/views/artifacts.ts";
export { viewBudget } from "./fleet/views/budget.ts";
export { viewCosts } from "./fleet/views/costs.ts";
export { viewSession } from "./fleet/views/sessions.ts";
export { viewAgents } from "./fleet/views/status.ts";
export type { FleetWebhooks } from "./fleet/webhooks.ts";
export { type BuildImageOptions, type BuiltImage, buildImage } from "./image/build-image.ts";
export type { BuildEvent } from "./image/build-log.ts";
// biome-ignore lint/performance/noReExportAll: a second list of the public names had to be kept in step by hand.
export * from "./index.ts";
export type { AskPerson } from "./jobs/attempts/approval-requests.ts";
export { writeFileAtomic } from "./lib/atomic-file.ts";
export { isAlive } from "./lib/process-identity.ts";
export type { RunOrder, SessionChoice } from "./runner/contract/run-order.ts";
export type { RunReport } from "./runner/contract/run-report.ts";
export { classifyOutcome } from "./runner/execution/classify-outcome.ts";
export type { Evidence } from "./runner/execution/evidence.ts";
export type { RunnerPoolOptions } from "./runner-pool/runner-pool.ts";
export { RunnerPool } from "./runner-pool/runner-pool.ts";
export { AgentMemory, isNoteName, memoryDir } from "./store/files/agent-memory.ts";
export { artifactsDir, listArtifacts } from "./store/files/artifacts.ts";
export { type OutputLine, readOutput } from "./store/files/output-log.ts";
export { type Actor, identities } from "./store/model/identity.ts";
export { verifyAudit } from "./store/sql/audit-store.ts";
export { readLockHolder } from "./store/sqlite/state-lock.ts";
export { listenRules } from "./triggers/chat/classify-message.ts";
export { viewSchedules } from "./triggers/schedules/schedule-view.ts";
export type { ReceiveResult } from "./triggers/webhooks/receive-delivery.ts";
export { TooManyDeliveries, type WebhookReceiver } from "./triggers/webhooks/webhook-receiver.ts";
export type { WebhookTarget } from "./triggers/webhooks/webhook-schedule.ts";
