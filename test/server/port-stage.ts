import { type IncomingHttpHeaders, request } from "node:http";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { FleetManager } from "@herdctl/core";
import {
  Access,
  createApp,
  type PortServer,
  readOnlyToken,
  readToken,
  type ServePortOptions,
  servePort,
} from "@herdctl/server";
import { expect, onTestFinished } from "vitest";
import { folderWith } from "../support/folder.ts";
import { freePort } from "../webhooks/hook-stage.ts";

export interface PortStage {
  fleet: FleetManager;
  access: Access;
  server: PortServer;
  port: number;
  folder: string;
  token: string;
  readOnly: string;
  send(method: string, path: string, more?: Sent): Promise<Answer>;
  /** The cookie of a browser that followed a login link. */
  signIn(scope?: "admin" | "read"): Promise<string>;
}

export interface Sent {
  headers?: Record<string, string>;
  body?: string;
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

interface StageOptions extends ServePortOptions {
  /** What stands in `server` besides the port. */
  server?: string;
  env?: Record<string, string>;
  agents?: string;
  folder?: string;
}

/** A fleet that takes jobs and starts none, served on a port of this machine. */
export async function portStage(options: StageOptions = {}): Promise<PortStage> {
  const port = await freePort();
  const folder =
    options.folder ??
    folderWith({
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
  const access = new Access(fleet);
  const app = createApp(fleet, { onBug, access });
  const server = await servePort(fleet, app, access, { onBug, ...options });
  onTestFinished(async () => {
    await server.stop();
    await fleet.stop({ drainMs: 0 });
    expect(bugs).toEqual([]);
  });
  const at = Number(new URL(fleet.port.url ?? "").port);
  const send: PortStage["send"] = (method, path, more) => sendTo(at, method, path, more);
  const token = fleet.port.wanted.token ?? readToken(join(folder, ".herdctl/token"));
  const signIn: PortStage["signIn"] = async (scope = "admin") => {
    const answer = await follow(send, at, access.loginLink(scope, "user:test")?.url ?? "");
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
    readOnly: readOnlyToken(token),
    send,
    signIn,
  };
}

/** What the login page does with a link. */
export function follow(send: PortStage["send"], port: number, link: string): Promise<Answer> {
  const headers = { "content-type": "application/json", origin: `http://127.0.0.1:${port}` };
  const body = JSON.stringify({ code: new URL(link).hash.slice(1) });
  return send("POST", "/login", { headers, body });
}

export function cookieOf({ headers }: Answer): string {
  return headers["set-cookie"]?.[0]?.split(";")[0] ?? "";
}

export function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

/** How a stream ends that should not outlive what opened it. */
export function endOf(stream: Response): Promise<string> {
  const ended = stream.text().then(
    () => "complete",
    () => "cut off",
  );
  return Promise.race([ended, delay(cutWithinMs, "still open", { ref: false })]);
}

const cutWithinMs = 12_000;

/** What the API says of who asks with these headers. */
export async function accessOf(
  send: PortStage["send"],
  headers: Record<string, string>,
): Promise<unknown> {
  return JSON.parse((await send("GET", "/v1/access", { headers })).text);
}

/** Every header as it is given: no client of the platform would send some of these. */
export function sendTo(
  port: number,
  method: string,
  path: string,
  { headers, body }: Sent = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    // A connection of its own: one that is kept may just have been closed by a fleet that stopped.
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
