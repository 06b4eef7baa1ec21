import type { Answer } from "../../api/ask.ts";

type AuditRecord = Answer<"audit">["records"][number];
type AuditAction = AuditRecord["action"];

/** Those that people look for. */
export const actions: readonly AuditAction[] = [
  "job.trigger",
  "job.cancel",
  "approval.answer",
  "login.create",
  "login.end",
  "token.create",
  "token.revoke",
  "token.use",
  "budget.raise",
  "agent.pause",
  "agent.resume",
  "schedule.switch",
  "config.change",
  "fleet.reload",
  "fleet.start",
  "fleet.stop",
];

const hour = 3_600_000;
export const spans = { "1h": hour, "24h": 24 * hour, "7d": 168 * hour, "30d": 720 * hour } as const;
type Span = keyof typeof spans;

export interface AuditSearch {
  action?: AuditAction;
  identity?: string;
  since?: Span;
}

/** What the address may say; anything else is left out. */
export function parseAuditSearch(given: Record<string, unknown>): AuditSearch {
  const { identity, since } = given;
  return {
    action: actions.find((action) => action === given.action),
    identity: typeof identity === "string" && identity !== "" ? identity : undefined,
    since: isSpan(since) ? since : undefined,
  };
}

function isSpan(value: unknown): value is Span {
  return typeof value === "string" && Object.hasOwn(spans, value);
}
