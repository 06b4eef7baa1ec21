import type { FleetControl } from "@herdctl/core";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import type { AnyEndpoint, Context } from "./contract/endpoint.ts";
import { endpoints } from "./contract/endpoints.ts";
import { isBug, noSuchRoute, toFailure, tooLarge } from "./failure.ts";
import { type Bindings, connectionOf } from "./live/connection.ts";
import { EventFeed } from "./live/event-feed.ts";
import { openApiDocument } from "./openapi-document.ts";
import { readRequest } from "./read-request.ts";

export type FleetApp = Hono<{ Bindings: Bindings }>;

export interface AppOptions {
  /** Hears of what nobody but us can fix; whoever asked is told only that there is such a thing. */
  onBug?(error: unknown): void;
}

/** Everything of `FleetControl` over HTTP; where it listens is for the caller to say. */
export function createApp(control: FleetControl, options: AppOptions = {}): FleetApp {
  const app = new Hono<{ Bindings: Bindings }>();
  const feed = new EventFeed((signal) => control.events(signal));
  for (const endpoint of Object.values<AnyEndpoint>(endpoints)) {
    const { method, path, answer } = endpoint;
    const limit = bodyLimit({
      maxSize: endpoint.bodyLimit,
      onError: () => failed(tooLarge(endpoint)),
    });
    app.on(method, path, limit, async (c) => {
      const connection = connectionOf(c.req.raw, c.env);
      const context: Context = { control, feed, connection, header: (name) => c.req.header(name) };
      const answered = await answer(context, await readRequest(endpoint, c.req));
      if (answered instanceof Response) return answered;
      return answered === undefined ? c.body(null, 204) : c.json(answered);
    });
  }
  app.get("/v1/openapi.json", (c) => c.json(openApiDocument()));
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
