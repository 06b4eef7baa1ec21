import { type IncomingHttpHeaders, request } from "node:http";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { FleetManager } from "@herdctl/core/internal";
import {
  Authenticator,
  createApp,
  deriveReadOnlyToken,
  type HttpServer,
  readToken,
  type ServeHttpOptions,
  serveHttp,
} from "@herdctl/server";
import { expect, onTestFinished } from "vitest";
import { tempFolderWith } from "../support/temp-folder.ts";
import { freePort } from "../webhooks/webhook-harness.ts";

export interface HttpHarness {
  fleet: FleetManager;
  access: Authenticator;
  server: HttpServer;
  port: number;
  folder: string;
  token: string;
  readOnly: string;
  send(method: string, path: string, more?: RequestOptions): Promise<HttpResponse>;
  /** The cookie of a browser that followed a login link. */
  signIn(scope?: "admin" | "read"): Promise<string>;
}

export interface RequestOptions {
  headers?: Record<string, string>;
  body?: string;
}

export interface HttpResponse {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

interface HttpHarnessOptions extends ServeHttpOptions {
  /** The settings in `server` besides the port. */
  server?: string;
  env?: Record<string, string>;
  agents?: string;
  folder?: string;
}

/** A fleet that accepts jobs without starting any, served on loopback. */
export async function startHttpHarness(options: HttpHarnessOptions = {}): Promise<HttpHarness> {
  const port = await freePort();
  const folder =
    options.folder ??
    tempFolderWith({
      "herdctl.yaml": `version: 1
fleet: { name: test }
server: { port: ${port}${options.server ? `, ${options.server}` : ""} }
agents:
${options.agents ?? "  - { name: coder, default_prompt: Do it. }"}
`,
    });
  const fleet = new FleetManager({ file: join(folder, "herdctl.yaml"), env: options.env ?? {} });
  await fleet.initialize();
  const bugs: unknown[] = [];
  const onBug = (bug: unknown) => void bugs.push(bug);
  const access = new Authenticator(fleet);
  const app = createApp(fleet, { onBug, authenticator: access });
  const server = await serveHttp(fleet, app, access, { onBug, ...options });
  onTestFinished(async () => {
    await server.stop();
    await fleet.shutdown({ drainMs: 0 });
    expect(bugs).toEqual([]);
  });
  const at = Number(new URL(fleet.http.url ?? "").port);
  const send: HttpHarness["send"] = (method, path, more) => sendRequest(at, method, path, more);
  const token = fleet.http.serverOptions.token ?? readToken(join(folder, ".herdctl/token"));
  const signIn: HttpHarness["signIn"] = async (scope = "admin") => {
    const answer = await followLoginLink(
      send,
      at,
      access.createLoginLink(scope, "user:test")?.url ?? "",
    );
    expect(answer.status).toBe(204);
    return cookieOf(answer);
  };
  return {
    fleet,
    access,
    server,
    port: at,
    folder,
    token,
    readOnly: deriveReadOnlyToken(token),
    send,
    signIn,
  };
}

/** The request of the login page for a link. */
export function followLoginLink(
  send: HttpHarness["send"],
  port: number,
  link: string,
): Promise<HttpResponse> {
  const headers = { "content-type": "application/json", origin: `http://127.0.0.1:${port}` };
  const body = JSON.stringify({ code: new URL(link).hash.slice(1) });
  return send("POST", "/login", { headers, body });
}

export function cookieOf({ headers }: HttpResponse): string {
  return headers["set-cookie"]?.[0]?.split(";")[0] ?? "";
}

export function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

/** Resolves with how a stream ended. */
export function readToEnd(stream: Response): Promise<string> {
  const ended = stream.text().then(
    () => "complete",
    () => "cut off",
  );
  return Promise.race([ended, delay(accessCutTimeoutMs, "still open", { ref: false })]);
}

const accessCutTimeoutMs = 12_000;

/** The access that the API grants to these headers. */
export async function readAccess(
  send: HttpHarness["send"],
  headers: Record<string, string>,
): Promise<unknown> {
  return JSON.parse((await send("GET", "/v1/access", { headers })).text);
}

/** Sends headers exactly as given, because platform clients refuse some of them. */
export function sendRequest(
  port: number,
  method: string,
  path: string,
  { headers, body }: RequestOptions = {},
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    // Uses a separate connection, because a kept one may be closed by a stopped fleet.
    const to = { host: "127.0.0.1", port, method, path, headers, agent: false };
    const sent = request(to, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString();
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
