export { accessTokenSchema, scopeSchema, tokenPrefix } from "./records/access-token.ts";
export { approvalSchema } from "./records/approval.ts";
export { artifactSchema } from "./records/artifact.ts";
export { auditEntrySchema, storedAuditRecordSchema } from "./records/audit.ts";
export { extendChain, findDescendants, startChain } from "./records/chain.ts";
export {
  chatMessageSchema,
  chatPlatformSchema,
  chatPostSchema,
  conversationSchema,
} from "./records/chat.ts";
export { deliverySchema, deliveryWithBodySchema } from "./records/delivery.ts";
export { dueTimeRecordSchema, scheduleCursorSchema } from "./records/due-time.ts";
export { hookCauseSchema, hookRunSchema } from "./records/hook-run.ts";
export {
  assignmentSchema,
  attemptSchema,
  containerImageSchema,
  credentialKindSchema,
  jobChangeSchema,
  jobSchema,
  jobStatusSchema,
  newJobSchema,
  servedBySchema,
  sessionHomeSchema,
  triggerTypeSchema,
} from "./records/job.ts";
export { jobGitSchema, mergeJobGit } from "./records/job-git.ts";
export { loginSchema } from "./records/login.ts";
export { nodeRoleSchema, nodeSchema, peerName } from "./records/node.ts";
export { outcomeCodeSchema, outcomeCodes, outcomeSchema } from "./records/outcome.ts";
export { permissionRuleSchema, toolRuleSchema } from "./records/permission-rule.ts";
export { processIdentitySchema } from "./records/process-identity.ts";
export {
  newPushSubscriptionSchema,
  type PushKeys,
  pushKeysSchema,
  pushSubscriptionSchema,
} from "./records/push-subscription.ts";
export { parseReply, questionFields, replySchema } from "./records/question.ts";
export {
  isExpired,
  leaseHolderSchema,
  sessionInfoSchema,
  sessionSchema,
} from "./records/session.ts";
export { amountsSchema, formatUtcDay, zeroAmounts } from "./records/spending.ts";
export { addCosts, addUsage, usageSchema } from "./records/usage.ts";
