import { UserError } from "@herdctl/protocol";
import type { HttpBindings } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { secureHeaders } from "hono/secure-headers";
import { z } from "zod";
import type { Authenticator } from "../auth/authenticator.ts";
import { anonymousCaller } from "../auth/caller.ts";
import type { FleetApp } from "../create-app.ts";
import { isBug, routeNotFoundError, toErrorResponse } from "../error-response.ts";
import { limitBodySize } from "../limit-body-size.ts";
import type { McpHandler } from "../mcp/http/mcp-handler.ts";
import type { WebhookApp } from "../webhooks/create-webhook-app.ts";
import { discardRemainingBody } from "../webhooks/discard-remaining-body.ts";
import { closeWhenRevoked } from "./close-when-revoked.ts";
import { loginPage, loginScript, pageStyle } from "./login-page.ts";
import { securityHeaderOptions } from "./security-headers.ts";
import type { StaticFiles } from "./static-files.ts";

interface HttpAppBindings extends HttpBindings {
  stopSignal: AbortSignal;
}
type Env = { Bindings: HttpAppBindings };
export type HttpApp = Hono<Env>;

export interface HttpAppDeps {
  authenticator: Authenticator;
  /** The control API, the same as on the socket. */
  api: FleetApp;
  webhooks: WebhookApp;
  mcpHandler: McpHandler;
  staticFiles: StaticFiles;
  onBug?(error: unknown): void;
}

/** Paths that need no token. They reveal only that the server is running. */
const publicPaths = ["/healthz", "/readyz"];
const maxLoginBytes = 1_000;
const codeSchema = z.strictObject({ code: z.string().max(100) });

/** All routes of the fleet's HTTP port. Their order matters. */
export function createHttpApp({
  authenticator,
  api,
  webhooks,
  mcpHandler,
  staticFiles,
  onBug,
}: HttpAppDeps): HttpApp {
  const app: HttpApp = new Hono<Env>();
  // Webhooks authenticate with their signature. They skip the host check, because tunnels change the host.
  app.all("/hooks/*", (c) => webhooks.fetch(c.req.raw, c.env));
  app.use(async (c, next) => {
    await next();
    const { incoming, outgoing } = c.env;
    if (!incoming.complete) discardRemainingBody(incoming, outgoing);
  });
  app.use(secureHeaders(securityHeaderOptions));
  app.use(async (c, next) => {
    const { method, path } = c.req;
    authenticator.checkOrigin(c.env.incoming.headers, { method, isPage: !isApiPath(path) });
    await next();
  });
  // MCP clients have their own authentication.
  app.all("/mcp", (c) => mcpHandler(c.req.raw, c.env.incoming));
  app.get("/login", (c) => pageResponse(c, loginPage, "text/html; charset=utf-8"));
  app.get("/login.js", (c) => pageResponse(c, loginScript, "text/javascript; charset=utf-8"));
  app.get("/login.css", (c) => pageResponse(c, pageStyle, "text/css; charset=utf-8"));
  app.post(
    "/login",
    limitBodySize(maxLoginBytes, () => errorResponse(loginTooLargeError())),
    async (c) => {
      const parsed = codeSchema.safeParse(parseJson(await c.req.text()));
      const { headers, socket } = c.env.incoming;
      const code = parsed.data?.code ?? "";
      c.header("set-cookie", await authenticator.login(code, headers, socket.remoteAddress ?? ""));
      return c.body(null, 204);
    },
  );
  app.post("/logout", async (c) => {
    const { headers, socket } = c.env.incoming;
    c.header("set-cookie", await authenticator.logout(headers, socket.remoteAddress ?? ""));
    return c.body(null, 204);
  });
  app.all("*", async (c, next) => {
    const { method, path } = c.req;
    if (!isApiPath(path)) return next();
    const { incoming, outgoing, stopSignal } = c.env;
    const { headers, socket } = incoming;
    const isPublic = publicPaths.includes(path) && method === "GET";
    const address = socket.remoteAddress ?? "";
    const caller = isPublic
      ? anonymousCaller(address)
      : await authenticator.authenticate(headers, method, address);
    const response = await api.fetch(c.req.raw, { outgoing, stopSignal, caller });
    if (response.body && !isPublic) closeWhenRevoked(authenticator, caller, outgoing);
    response.headers.set("cache-control", "no-store");
    return response;
  });
  app.get(
    "*",
    async (c) =>
      (await staticFiles.serve(
        c.req.path,
        c.req.header("if-none-match"),
        c.req.header("accept-encoding"),
      )) ?? c.notFound(),
  );
  app.notFound((c) => errorResponse(routeNotFoundError(c.req.method, c.req.path)));
  app.onError((error) => {
    if (isBug(error)) onBug?.(error);
    return errorResponse(error);
  });
  return app;
}

function isApiPath(path: string): boolean {
  return (
    path.startsWith("/v1/") || path === "/v1" || path === "/metrics" || publicPaths.includes(path)
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function loginTooLargeError(): UserError {
  return new UserError("request_too_large", "the login request is too large");
}

function pageResponse(c: Context, text: string, type: string): Response {
  return c.body(text, 200, { "content-type": type, "cache-control": "no-store" });
}

function errorResponse(error: unknown): Response {
  const { status, body } = toErrorResponse(error);
  const headers = new Headers({ "cache-control": "no-store" });
  if (status === 429) headers.set("retry-after", "60");
  if (status === 401) headers.set("www-authenticate", "Bearer");
  return Response.json(body, { status, headers });
}
