import { UserError } from "@herdctl/core";
import type { HttpBindings } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { secureHeaders } from "hono/secure-headers";
import { z } from "zod";
import type { Access } from "../access/access.ts";
import { anonymousVisitor } from "../access/visitor.ts";
import type { FleetApp } from "../create-app.ts";
import { isBug, noSuchRoute, toFailure } from "../failure.ts";
import { closeSoon } from "../hooks/close-soon.ts";
import type { HooksApp } from "../hooks/create-hooks-app.ts";
import type { McpDoor } from "../mcp/http/mcp-door.ts";
import { endWithAccess } from "./end-with-access.ts";
import { loginPage, loginScript, pageStyle } from "./pages.ts";
import { headerOptions } from "./security-headers.ts";
import type { StaticFiles } from "./static-files.ts";

interface PortBindings extends HttpBindings {
  stopping: AbortSignal;
}
type Env = { Bindings: PortBindings };
export type PortApp = Hono<Env>;

export interface PortParts {
  access: Access;
  /** The control API, the same as on the socket. */
  api: FleetApp;
  hooks: HooksApp;
  mcp: McpDoor;
  files: StaticFiles;
  onBug?(error: unknown): void;
}

/** Without a token: whoever asks learns that somebody is there, and no more. */
const openToAll = ["/healthz", "/readyz"];
const codeSchema = z.strictObject({ code: z.string().max(100) });

/** All that a fleet answers on its port, in the order in which it is decided. */
export function createPortApp({ access, api, hooks, mcp, files, onBug }: PortParts): PortApp {
  const app: PortApp = new Hono<Env>();
  // They prove themselves by their signature, and may come through any tunnel.
  app.all("/hooks/*", (c) => hooks.fetch(c.req.raw, c.env));
  app.use(async (c, next) => {
    await next();
    const { incoming, outgoing } = c.env;
    if (!incoming.complete) closeSoon(incoming, outgoing);
  });
  app.use(secureHeaders(headerOptions));
  app.use(async (c, next) => {
    const { method, path } = c.req;
    access.checkOrigin(c.env.incoming.headers, { method, isPage: !isOfApi(path) });
    await next();
  });
  // It has a token of its own, which opens nothing else.
  app.all("/mcp", (c) => mcp(c.req.raw, c.env.incoming));
  app.get("/login", (c) => page(c, loginPage, "text/html; charset=utf-8"));
  app.get("/login.js", (c) => page(c, loginScript, "text/javascript; charset=utf-8"));
  app.get("/login.css", (c) => page(c, pageStyle, "text/css; charset=utf-8"));
  app.post("/login", bodyLimit({ maxSize: 1_000, onError: () => failed(tooMuch()) }), async (c) => {
    const given = codeSchema.safeParse(await c.req.json().catch(() => undefined));
    const { headers, socket } = c.env.incoming;
    const code = given.data?.code ?? "";
    c.header("set-cookie", await access.login(code, headers, socket.remoteAddress ?? ""));
    return c.body(null, 204);
  });
  app.post("/logout", async (c) => {
    const { headers, socket } = c.env.incoming;
    c.header("set-cookie", await access.logout(headers, socket.remoteAddress ?? ""));
    return c.body(null, 204);
  });
  app.all("*", async (c, next) => {
    const { method, path } = c.req;
    if (!isOfApi(path)) return next();
    const { incoming, outgoing, stopping } = c.env;
    const { headers, socket } = incoming;
    const isOpen = openToAll.includes(path) && method === "GET";
    const address = socket.remoteAddress ?? "";
    const visitor = isOpen
      ? anonymousVisitor(address)
      : await access.admit(headers, method, address);
    const answer = await api.fetch(c.req.raw, { outgoing, stopping, visitor });
    if (answer.body && !isOpen) endWithAccess(access, visitor, outgoing);
    answer.headers.set("cache-control", "no-store");
    return answer;
  });
  app.get(
    "*",
    async (c) => (await files.answer(c.req.path, c.req.header("if-none-match"))) ?? c.notFound(),
  );
  app.notFound((c) => failed(noSuchRoute(c.req.method, c.req.path)));
  app.onError((error) => {
    if (isBug(error)) onBug?.(error);
    return failed(error);
  });
  return app;
}

function isOfApi(path: string): boolean {
  return (
    path.startsWith("/v1/") || path === "/v1" || path === "/metrics" || openToAll.includes(path)
  );
}

function tooMuch(): UserError {
  return new UserError("request_too_large", "a login code is shorter");
}

function page(c: Context, text: string, type: string): Response {
  return c.body(text, 200, { "content-type": type, "cache-control": "no-store" });
}

function failed(error: unknown): Response {
  const { status, body } = toFailure(error);
  const headers = new Headers({ "cache-control": "no-store" });
  if (status === 429) headers.set("retry-after", "60");
  if (status === 401) headers.set("www-authenticate", "Bearer");
  return Response.json(body, { status, headers });
}
