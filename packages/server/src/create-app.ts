import type { FleetControl } from "@herdctl/core";
import { Hono } from "hono";
import type { Access } from "./access/access.ts";
import { localUser, type Scope } from "./access/visitor.ts";
import { bodyWithin } from "./body-within.ts";
import type { AnyEndpoint } from "./contract/endpoint.ts";
import { endpoints } from "./contract/endpoints.ts";
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

/** Everything of `FleetControl` over HTTP; where it listens is for the caller to say. */
export function createApp(control: FleetControl, options: AppOptions = {}): FleetApp {
  const app = new Hono<{ Bindings: Bindings }>();
  const feed = new EventFeed((signal) => control.events(signal));
  const jobFeeds = new JobFeeds(control);
  const metrics = new FleetMetrics(control);
  const loginLink = (scope: Scope) => options.access?.loginLink(scope);
  for (const endpoint of Object.values<AnyEndpoint>(endpoints)) {
    const { method, path, answer } = endpoint;
    const limit = bodyWithin(endpoint.bodyLimit, () => failed(tooLarge(endpoint)));
    app.on(method, path, limit, async (c) => {
      const connection = connectionOf(c.req.raw, c.env);
      const visitor = c.env?.visitor ?? localUser;
      const header = (name: string) => c.req.header(name);
      const context = { control, feed, jobFeeds, connection, visitor, loginLink, header };
      const answered = await answer(context, await readRequest(endpoint, c.req));
      if (answered instanceof Response) return answered;
      return answered === undefined ? c.body(null, 204) : c.json(answered);
    });
  }
  app.get("/v1/openapi.json", (c) => c.json(openApiDocument()));
  app.get("/metrics", async (c) => {
    return c.body(await metrics.text(), 200, { "content-type": metrics.contentType });
  });
  app.notFound((c) => failed(noSuchRoute(c.req.method, c.req.path)));
  app.onError((error) => {
    if (isBug(error)) options.onBug?.(error);
    return failed(error);
  });
  return app;
}

function failed(error: unknown): Response {
  const { status, body } = toFailure(error);
  return Response.json(body, { status });
}
