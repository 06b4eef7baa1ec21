/** Where each call is found. The client knows this much and no schema: it has to load quickly. */
export const routes = {
  ping: ["GET", "/v1/ping"],
  status: ["GET", "/v1/status"],
  trigger: ["POST", "/v1/jobs"],
  jobs: ["GET", "/v1/jobs"],
  job: ["GET", "/v1/jobs/:id"],
  wait: ["GET", "/v1/jobs/:id/wait"],
  output: ["GET", "/v1/jobs/:id/output"],
  cancel: ["POST", "/v1/jobs/:id/cancel"],
  approvals: ["GET", "/v1/approvals"],
  answer: ["POST", "/v1/approvals/:id/answer"],
  deliveries: ["GET", "/v1/deliveries"],
  delivery: ["GET", "/v1/deliveries/:id"],
  replay: ["POST", "/v1/deliveries/:id/replay"],
  pause: ["POST", "/v1/agents/:agent/pause"],
  resume: ["POST", "/v1/agents/:agent/resume"],
  hooks: ["GET", "/v1/hooks"],
  retryHook: ["POST", "/v1/hooks/:id/retry"],
  reload: ["POST", "/v1/reload"],
  shutdown: ["POST", "/v1/shutdown"],
  events: ["GET", "/v1/events"],
} as const satisfies Record<string, readonly ["GET" | "POST", string]>;

export type RouteName = keyof typeof routes;
