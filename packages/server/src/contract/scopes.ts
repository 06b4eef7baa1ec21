import type { RouteName } from "@herdctl/protocol";
import { type Scope, UserError } from "@herdctl/protocol";

/** The scope each route requires. `public` needs none; routes that are not listed need `admin`. */
export const routeScopes: Partial<Record<RouteName | ExtraRoute, Scope | "public">> = {
  health: "public",
  ready: "public",
  ping: "read",
  access: "read",
  status: "read",
  trigger: "trigger",
  jobs: "read",
  search: "read",
  timeline: "read",
  job: "read",
  wait: "read",
  output: "read",
  artifacts: "read",
  artifact: "read",
  chain: "read",
  rewindPoints: "read",
  approvals: "read",
  answer: "answer",
  rules: "read",
  pushKey: "read",
  subscribePush: "read",
  unsubscribePush: "read",
  sessions: "read",
  retry: "trigger",
  resume: "trigger",
  fork: "trigger",
  agents: "read",
  agent: "read",
  notes: "read",
  note: "read",
  deliveries: "read",
  delivery: "read",
  schedules: "read",
  dueTimes: "read",
  budget: "read",
  costs: "read",
  hooks: "read",
  configuration: "read",
  agentSchema: "read",
  chat: "read",
  nodes: "read",
  events: "read",
  metrics: "read",
  openApi: "read",
};

/** Routes outside the contract. */
type ExtraRoute = "metrics" | "openApi";

/** Every scope includes `read`; `admin` includes all others. */
export function isScopeAllowed(scope: Scope, required: Scope | "public"): boolean {
  return required === "public" || required === "read" || scope === "admin" || scope === required;
}

export function requireScope(scope: Scope, route: RouteName | ExtraRoute): void {
  const required = routeScopes[route] ?? /* defence: unlisted-routes */ "admin";
  // defence: route-scope
  if (isScopeAllowed(scope, required)) return;
  throw new UserError(
    "insufficient_scope",
    `this request needs the scope \`${required}\`, but the caller has \`${scope}\``,
  );
}
