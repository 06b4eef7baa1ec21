export { explainToolRule } from "./checks/advice.ts";
export { collectProtectedPaths, findSecret, resolveLinks } from "./checks/mounts.ts";
export { findTokenProblem, isLoopback } from "./checks/server-tokens.ts";
export {
  type Coverage,
  type CoverageTable,
  claudeCoverage,
} from "./claude-code/coverage-tables.ts";
export { type ClaudeSettings, findSettingsProblems } from "./claude-settings/check-settings.ts";
export {
  completeAgent,
  completeDocker,
  type DockerInput,
  type ResolvedAgentConfig,
} from "./complete-agent.ts";
export {
  type ComparisonOperator,
  type Condition,
  type ConditionValue,
  type Operand,
  parseCondition,
} from "./condition/parse.ts";
export { type EditPreview, previewEdit } from "./edit/preview-edit.ts";
export { type Environment, readEnvironment } from "./environment.ts";
export type { FindingKind, ImportFinding } from "./import/findings.ts";
export { type ImportedFile, type ImportPlan, planImport } from "./import/plan-import.ts";
export { type JsonSchema, jsonSchema } from "./json-schema.ts";
export { type Fleet, type LoadedFleet, loadFleet } from "./load-fleet.ts";
export { matchesAnyPattern, matchesPattern } from "./name-patterns.ts";
export { compileSchema, outputSchemaOf } from "./output-schema.ts";
export { providerVariables, reservedVariables } from "./reserved-variables.ts";
export {
  type LoginAgent,
  mayUseLoginByDefault,
  type ResolvedAgent,
  type WorkingDirectory,
} from "./resolve-agent.ts";
export {
  type AgentConfig,
  agentSchema as AgentConfigSchema,
  type HerdToolName,
  PermissionsSchema,
  type RuntimeType,
} from "./schema/agent.ts";
export { InvalidValue } from "./schema/codec.ts";
export { docker as DockerSchema, isNamedVolume, type Volume } from "./schema/docker.ts";
export type { Hook, HookOf } from "./schema/hooks.ts";
export { mcpServer as McpServerSchema } from "./schema/integrations.ts";
export {
  modelAliases,
  type ProviderConfig,
  type ProviderType,
  providerTypes,
} from "./schema/provider.ts";
export { duration, parseDuration } from "./schema/quantities.ts";
export { listSecretValues, minSecretLength, passwordOf } from "./secret-values.ts";
export { toolsWithPolicy } from "./tool-policies.ts";
export { isPortConfigured, listUsedVariables } from "./used-variables.ts";
export { viewConfig } from "./view-config.ts";
export {
  isWatched,
  listProblemFiles,
  listWatchedFolders,
  type WatchedFolder,
} from "./watched-folders.ts";
export { decodeWebhookKey, isStrongWebhookSecret } from "./webhook-secrets.ts";
export { readDocument } from "./yaml/read-document.ts";
export { type Tree, treeAt } from "./yaml/tree.ts";
