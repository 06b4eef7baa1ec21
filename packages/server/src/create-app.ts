import type { Actor, FleetControl, Scope } from "@herdctl/core";
import { Hono } from "hono";
import type { Access } from "./access/access.ts";
import { LimitedFleet, onlySomeAgents } from "./access/limited-fleet.ts";
import { localVisitor, type Visitor } from "./access/visitor.ts";
import { bodyWithin } from "./body-within.ts";
import type { AnyEndpoint } from "./contract/endpoint.ts";
import { endpoints } from "./contract/endpoints.ts";
import type { RouteName } from "./contract/routes.ts";
import { checkScope } from "./contract/scopes.ts";
import { isBug, noSuchRoute, toFailure, tooLarge } from "./failure.ts";
import { type Bindings, connectionOf } from "./live/connection.ts";
import { EventFeed } from "./live/event-feed.ts";
import { JobFeeds } from "./live/job-feeds.ts";
import { FleetMetrics } from "./metrics/fleet-metrics.ts";
import { openApiDocument } from "./openapi-document.ts";
import { readRequest } from "./read-request.ts";

export type FleetApp = Hono<{ Bindings: Bindings }>;

export interface AppOptions {
  /** Hears of what nobody but us can fix; whoever asked is told only that there is such a thing. */
  onBug?(error: unknown): void;
  /** How browsers come in; without it none can. */
  access?: Access;
}

export interface ServedFleet extends FleetControl {
  /** The same fleet for another actor: what is done through it is recorded as done by that one. */
  as(actor: Actor): FleetControl;
}

/** Everything of `FleetControl` over HTTP; where it listens is for the caller to say. */
export function createApp(fleet: ServedFleet, options: AppOptions = {}): FleetApp {
  const app = new Hono<{ Bindings: Bindings }>();
  const feed = new EventFeed(fleet);
  const jobFeeds = new JobFeeds(fleet);
  const metrics = new FleetMetrics(fleet);
  const loginLink = (scope: Scope, by: string) => options.access?.loginLink(scope, by);
  for (const [name, endpoint] of Object.entries<AnyEndpoint>(endpoints)) {
    const { method, path, answer } = endpoint;
    const limit = bodyWithin(endpoint.bodyLimit, () => failed(tooLarge(endpoint)));
    app.on(method, path, limit, async (c) => {
      const connection = connectionOf(c.req.raw, c.env);
      const visitor = c.env?.visitor ?? localVisitor();
      // The edge: `endpoints` has exactly the names of `routes`.
      checkScope(visitor.scope, name as RouteName);
      const control = controlFor(fleet, visitor);
      const header = (name: string) => c.req.header(name);
      const context = { control, feed, jobFeeds, connection, visitor, loginLink, header };
      const answered = await answer(context, await readRequest(endpoint, c.req));
      if (answered instanceof Response) return answered;
      return answered === undefined ? c.body(null, 204) : c.json(answered);
    });
  }
  app.get("/v1/openapi.json", (c) => {
    checkScope((c.env?.visitor ?? localVisitor()).scope, "openApi");
    return c.json(openApiDocument());
  });
  app.get("/metrics", async (c) => {
    const visitor = c.env?.visitor ?? localVisitor();
    checkScope(visitor.scope, "metrics");
    if (visitor.agents) throw onlySomeAgents(visitor.agents);
    return c.body(await metrics.text(), 200, { "content-type": metrics.contentType });
  });
  app.notFound((c) => failed(noSuchRoute(c.req.method, c.req.path)));
  app.onError((error) => {
    if (isBug(error)) options.onBug?.(error);
    return failed(error);
  });
  return app;
}

/** The fleet for one visitor: only the agents that it may see, and under its identity. */
export function controlFor(fleet: ServedFleet, { actor, agents }: Visitor): FleetControl {
  const control = fleet.as(actor);
  return agents ? new LimitedFleet(control, agents) : control;
}

function failed(error: unknown): Response {
  const { status, body } = toFailure(error);
  return Response.json(body, { status });
}
