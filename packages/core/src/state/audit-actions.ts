/** Everything that the audit log records. */
export const auditActions = [
  "login.create",
  "login.end",
  "login.end_all",
  "token.create",
  "token.revoke",
  "token.use",
  "job.trigger",
  "job.cancel",
  "approval.answer",
  "budget.raise",
  "agent.pause",
  "agent.resume",
  "schedule.switch",
  "schedule.remove",
  "delivery.replay",
  "hook.retry",
  "config.change",
  "fleet.reload",
  "fleet.start",
  "fleet.stop",
] as const;
export type AuditAction = (typeof auditActions)[number];
