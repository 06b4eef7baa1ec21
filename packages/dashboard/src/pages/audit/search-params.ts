import type { ResponseOfRoute } from "../../api/call-fleet.ts";
import { isSpan, type Span } from "../time-spans.ts";

type AuditRecord = ResponseOfRoute<"audit">["records"][number];
type AuditAction = AuditRecord["action"];

/** The type check fails if an action is missing. */
const knownActions = {
  "job.trigger": true,
  "job.cancel": true,
  "job.cancel_all": true,
  "job.retry": true,
  "job.try_now": true,
  "job.rewind": true,
  "approval.answer": true,
  "rule.remove": true,
  "push.subscribe": true,
  "push.unsubscribe": true,
  "login.create": true,
  "login.end": true,
  "login.end_all": true,
  "token.create": true,
  "token.revoke": true,
  "token.use": true,
  "budget.raise": true,
  "agent.pause": true,
  "agent.resume": true,
  "schedule.switch": true,
  "schedule.remove": true,
  "delivery.receive": true,
  "delivery.replay": true,
  "hook.retry": true,
  "config.change": true,
  "config.edit": true,
  "fleet.reload": true,
  "fleet.start": true,
  "fleet.stop": true,
} satisfies Record<AuditAction, true>;
export const actions = Object.keys(knownActions).filter(isAction);

function isAction(name: string): name is AuditAction {
  return Object.hasOwn(knownActions, name);
}

export interface AuditSearch {
  action?: AuditAction;
  identity?: string;
  since?: Span;
}

/** Parses the URL's search parameters and drops unknown values. */
export function parseAuditSearch(search: Record<string, unknown>): AuditSearch {
  const { identity, since } = search;
  return {
    action: actions.find((action) => action === search.action),
    identity: typeof identity === "string" && identity !== "" ? identity : undefined,
    since: isSpan(since) ? since : undefined,
  };
}
