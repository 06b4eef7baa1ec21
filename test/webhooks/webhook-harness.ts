import { createHmac } from "node:crypto";
import { createServer } from "node:net";
import { join } from "node:path";
import { FleetManager, type FleetManagerOptions } from "@herdctl/core/internal";
import { Authenticator, createApp, type ServeHttpOptions, serveHttp } from "@herdctl/server";
import { expect, onTestFinished } from "vitest";
import { tempFolderWith } from "../support/temp-folder.ts";

export const secret = "the secret that both of them know";

export interface WebhookHarness {
  fleet: FleetManager;
  folder: string;
  port: number;
  post(path: string, body: string, headers?: Record<string, string>): Promise<WebhookResponse>;
}

export interface WebhookResponse {
  status: number;
  json: Record<string, unknown>;
  headers: Headers;
}

interface WebhookHarnessOptions extends ServeHttpOptions, Partial<FleetManagerOptions> {
  /** More agents. */
  more?: string;
  /** Called before the fleet opens its state. */
  beforeOpen?: (folder: string) => void;
}

/**
 * One agent with these schedules (YAML, one per line), in a fleet that accepts jobs without
 * starting any.
 */
export async function startWebhookHarness(
  schedules: string[],
  options: WebhookHarnessOptions = {},
): Promise<WebhookHarness> {
  const port = await freePort();
  const folder = tempFolderWith({
    "herdctl.yaml": `version: 1
fleet: { name: test }
server: { port: ${port} }
agents:
  - name: coder
    schedules:
${schedules.map((line) => `      ${line}`).join("\n")}
${options.more ?? ""}
`,
    ".env": `SECRET=${secret}\n`,
  });
  options.beforeOpen?.(folder);
  const fleet = new FleetManager({ env: {}, ...options, file: join(folder, "herdctl.yaml") });
  await fleet.initialize();
  const bugs: unknown[] = [];
  const onBug = (bug: unknown) => void bugs.push(bug);
  const access = new Authenticator(fleet);
  const app = createApp(fleet, { onBug, authenticator: access });
  const server = await serveHttp(fleet, app, access, { ...options, onBug });
  onTestFinished(async () => {
    await server.stop();
    await fleet.shutdown({ drainMs: 0 });
    expect(bugs).toEqual([]);
  });
  const post: WebhookHarness["post"] = (path, body, headers) =>
    sendWebhook(`http://127.0.0.1:${port}/hooks/${path}`, body, headers);
  return { fleet, folder, port, post };
}

export async function sendWebhook(
  url: string,
  body: string,
  headers: Record<string, string> = {},
): Promise<WebhookResponse> {
  const response = await fetch(url, {
    method: "POST",
    body,
    headers: { "content-type": "application/json", ...headers },
  });
  const text = await response.text();
  return {
    status: response.status,
    json: text === "" ? {} : JSON.parse(text),
    headers: response.headers,
  };
}

/** Signs like GitHub. */
export function githubHeaders(
  body: string,
  { event = "issues", id = String(crypto.randomUUID()), key = secret } = {},
): Record<string, string> {
  const sum = createHmac("sha256", key).update(body).digest("hex");
  return {
    "x-github-event": event,
    "x-github-delivery": id,
    "x-hub-signature-256": `sha256=${sum}`,
  };
}

/** A schedule that any GitHub user may trigger. */
export const githubSchedule =
  "issues: { type: webhook, prompt: 'Look at {{payload.issue.title}}', allowed_senders: { anyone: true }, signature: { kind: github, secret_env: SECRET } }";

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}
