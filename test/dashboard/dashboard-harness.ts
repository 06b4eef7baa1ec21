import { dirname } from "node:path";
import { FleetManager, type FleetManagerOptions } from "@herdctl/core/internal";
import type { Script } from "@herdctl/rehearsal";
import { Authenticator, createApp, type HttpServer, serveHttp } from "@herdctl/server";
import type { Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { openPage, type PageOptions } from "../support/chromium.ts";
import { startHarness, type TestHarness } from "../support/harness.ts";
import { writeFleetFile } from "../support/in-process-fleet.ts";
import { freePort } from "../webhooks/webhook-harness.ts";

export interface DashboardHarness {
  harness: TestHarness;
  folder: string;
  url: string;
  fleet(): FleetManager;
  /** A link that signs one browser in. */
  loginLink(scope?: "admin" | "read"): string;
  /** Opens a page that has signed in with such a link. */
  openPage(path?: string, options?: PageOptions & { scope?: "admin" | "read" }): Promise<Page>;
  /** Stops the fleet and later starts it again with the same state and address. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

interface DashboardHarnessOptions {
  /** The script of the model. */
  script: Script;
  /** The agents in the fleet file. */
  agents: string;
  /** The settings in `fleet` besides the name. */
  fleet?: string;
  env?: Record<string, string>;
  node?: FleetManagerOptions["node"];
}

/** A real fleet with a rehearsal model, serving the built dashboard on loopback. */
export async function startDashboardHarness(
  options: DashboardHarnessOptions,
): Promise<DashboardHarness> {
  const harness = await startHarness({ script: options.script });
  const port = await freePort();
  const server = `server: { port: ${port} }`;
  const file = writeFleetFile(harness, `${options.agents}\n${server}`, options.fleet);
  const bugs: unknown[] = [];
  const begin = () => serveDashboard(harness, file, options, (bug) => bugs.push(bug));
  let served = await begin();
  let isUp = true;
  const stop = async () => {
    if (!isUp) return;
    isUp = false;
    await served.server.stop();
    await served.fleet.shutdown({ drainMs: 0 });
  };
  onTestFinished(async () => {
    await stop();
    expect(bugs).toEqual([]);
  });
  const loginLink: DashboardHarness["loginLink"] = (scope = "admin") =>
    served.access.createLoginLink(scope, "user:test")?.url ?? "";
  return {
    harness,
    folder: dirname(file),
    url: `http://127.0.0.1:${port}`,
    fleet: () => served.fleet,
    loginLink,
    openPage: async (path = "/", { scope, ...page } = {}) =>
      signIn(await openPage(page), loginLink(scope), path),
    stop,
    start: async () => {
      served = await begin();
      isUp = true;
    },
  };
}

interface ServedDashboard {
  fleet: FleetManager;
  access: Authenticator;
  server: HttpServer;
}

async function serveDashboard(
  harness: TestHarness,
  file: string,
  { env, node }: Pick<DashboardHarnessOptions, "env" | "node">,
  onBug: (bug: unknown) => void,
): Promise<ServedDashboard> {
  const own = { ...harness.env, CLAUDE_CODE_MAX_RETRIES: "1", ...env };
  const fleet = new FleetManager({ file, env: own, node });
  await fleet.start();
  const access = new Authenticator(fleet);
  const app = createApp(fleet, { onBug, authenticator: access });
  return { fleet, access, server: await serveHttp(fleet, app, access, { onBug }) };
}

async function signIn(page: Page, loginLink: string, path: string): Promise<Page> {
  await page.goto(loginLink);
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
  if (path !== "/") await page.goto(new URL(path, loginLink).href);
  return page;
}
