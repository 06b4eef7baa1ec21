import type { Actor } from "@herdctl/core/internal";
import type { FleetControl, RouteName, Scope } from "@herdctl/protocol";
import { Hono } from "hono";
import { AgentScopedFleet, agentScopeError } from "./auth/agent-scoped-fleet.ts";
import type { Authenticator } from "./auth/authenticator.ts";
import { type Caller, localCaller } from "./auth/caller.ts";
import type { AnyEndpoint } from "./contract/define-endpoint.ts";
import { endpoints } from "./contract/endpoints.ts";
import { requireScope } from "./contract/scopes.ts";
import {
  isBug,
  requestTooLargeError,
  routeNotFoundError,
  toErrorResponse,
} from "./error-response.ts";
import { limitBodySize } from "./limit-body-size.ts";
import { FleetMetrics } from "./metrics/fleet-metrics.ts";
import { createOpenApiDocument } from "./openapi-document.ts";
import { readRequest } from "./read-request.ts";
import { createConnection, type RequestBindings } from "./streams/connection.ts";
import { EventFeed } from "./streams/event-feed.ts";
import { JobOutputFeeds } from "./streams/job-output-feeds.ts";

export type FleetApp = Hono<{ Bindings: RequestBindings }>;

export interface AppOptions {
  /** Receives internal errors. The caller only receives a generic message. */
  onBug?(error: unknown): void;
  /** Creates login links for browsers; without it, none can be created. */
  authenticator?: Authenticator;
}

export interface ServedFleet extends FleetControl {
  /** The same fleet for another actor. Actions are recorded as done by that actor. */
  as(actor: Actor): FleetControl;
}

/** Serves `FleetControl` over HTTP. The caller decides where to listen. */
export function createApp(fleet: ServedFleet, options: AppOptions = {}): FleetApp {
  const app = new Hono<{ Bindings: RequestBindings }>();
  const eventFeed = new EventFeed(fleet);
  const outputFeeds = new JobOutputFeeds(fleet);
  const metrics = new FleetMetrics(fleet);
  const createLoginLink = (scope: Scope, by: string) =>
    options.authenticator?.createLoginLink(scope, by);
  for (const [name, endpoint] of Object.entries<AnyEndpoint>(endpoints)) {
    const { method, path, handle } = endpoint;
    const limitBody = limitBodySize(endpoint.maxBodyBytes, () =>
      errorResponse(requestTooLargeError(endpoint)),
    );
    app.on(method, path, limitBody, async (c) => {
      const connection = createConnection(c.req.raw, c.env);
      const caller = c.env?.caller ?? localCaller();
      // `endpoints` has exactly the keys of `routes`.
      requireScope(caller.scope, name as RouteName);
      const control = fleetForCaller(fleet, caller);
      const readHeader = (name: string) => c.req.header(name);
      const context = {
        control,
        eventFeed,
        outputFeeds,
        connection,
        caller,
        createLoginLink,
        readHeader,
      };
      const result = await handle(context, await readRequest(endpoint, c.req));
      if (result instanceof Response) return result;
      return result === undefined ? c.body(null, 204) : c.json(result);
    });
  }
  app.get("/v1/openapi.json", (c) => {
    requireScope((c.env?.caller ?? localCaller()).scope, "openApi");
    return c.json(createOpenApiDocument());
  });
  app.get("/metrics", async (c) => {
    const caller = c.env?.caller ?? localCaller();
    requireScope(caller.scope, "metrics");
    if (caller.agents) throw agentScopeError(caller.agents);
    return c.body(await metrics.render(), 200, { "content-type": metrics.contentType });
  });
  app.notFound((c) => errorResponse(routeNotFoundError(c.req.method, c.req.path)));
  app.onError((error) => {
    if (isBug(error)) options.onBug?.(error);
    return errorResponse(error);
  });
  return app;
}

/** The fleet as the caller may use it: limited to its agents, acting under its identity. */
export function fleetForCaller(fleet: ServedFleet, { actor, agents }: Caller): FleetControl {
  const control = fleet.as(actor);
  // defence: agent-token-view
  return agents ? new AgentScopedFleet(control, agents) : control;
}

function errorResponse(error: unknown): Response {
  const { status, body } = toErrorResponse(error);
  return Response.json(body, { status });
}
