import { type Scope, UserError } from "@herdctl/core";
import type { RouteName } from "./routes.ts";

/** What each route needs. `public` asks for nothing; a route that is not listed needs `admin`. */
export const routeScopes: Partial<Record<RouteName | PlainRoute, Scope | "public">> = {
  health: "public",
  ready: "public",
  ping: "read",
  access: "read",
  status: "read",
  trigger: "trigger",
  jobs: "read",
  timeline: "read",
  job: "read",
  wait: "read",
  output: "read",
  artifacts: "read",
  artifact: "read",
  chain: "read",
  approvals: "read",
  answer: "answer",
  sessions: "read",
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
  chat: "read",
  nodes: "read",
  events: "read",
  metrics: "read",
  openApi: "read",
};

/** Answered beside the contract. */
type PlainRoute = "metrics" | "openApi";

/** Every scope may read; beyond that each is only for what it is called after. */
export function allows(scope: Scope, needed: Scope | "public"): boolean {
  return needed === "public" || needed === "read" || scope === "admin" || scope === needed;
}

export function checkScope(scope: Scope, route: RouteName | PlainRoute): void {
  const needed = routeScopes[route] ?? "admin";
  if (allows(scope, needed)) return;
  throw new UserError("insufficient_scope", `this needs the scope \`${needed}\`, not \`${scope}\``);
}
