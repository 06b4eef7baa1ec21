import { dirname } from "node:path";
import { FleetManager, type FleetManagerOptions } from "@herdctl/core";
import type { Script } from "@herdctl/rehearsal";
import { Access, createApp, type PortServer, servePort } from "@herdctl/server";
import type { Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { openPage, type PageOptions } from "../support/chromium.ts";
import { fleetFile } from "../support/fleet-process.ts";
import { type Stage, stage } from "../support/stage.ts";
import { freePort } from "../webhooks/hook-stage.ts";

export interface DashboardStage {
  on: Stage;
  folder: string;
  url: string;
  fleet(): FleetManager;
  /** A link that signs one browser in. */
  link(scope?: "admin" | "read"): string;
  /** A browser that has followed such a link. */
  open(path?: string, options?: PageOptions & { scope?: "admin" | "read" }): Promise<Page>;
  /** The fleet goes, jobs and all; and comes back in the same place. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

interface StageOptions {
  /** What the model says. */
  script: Script;
  /** The agents, as they stand in the fleet file. */
  agents: string;
  /** What stands in `fleet` besides the name. */
  fleet?: string;
  env?: Record<string, string>;
  node?: FleetManagerOptions["node"];
}

/** A real fleet on a rehearsed model, served with the built dashboard on a port of this machine. */
export async function dashboardStage(options: StageOptions): Promise<DashboardStage> {
  const on = await stage({ script: options.script });
  const port = await freePort();
  const server = `server: { port: ${port} }`;
  const file = fleetFile(on, `${options.agents}\n${server}`, options.fleet);
  const bugs: unknown[] = [];
  const begin = () => serve(on, file, options, (bug) => bugs.push(bug));
  let served = await begin();
  let isUp = true;
  const stop = async () => {
    if (!isUp) return;
    isUp = false;
    await served.server.stop();
    await served.fleet.stop({ drainMs: 0 });
  };
  onTestFinished(async () => {
    await stop();
    expect(bugs).toEqual([]);
  });
  const link: DashboardStage["link"] = (scope = "admin") =>
    served.access.loginLink(scope, "user:test")?.url ?? "";
  return {
    on,
    folder: dirname(file),
    url: `http://127.0.0.1:${port}`,
    fleet: () => served.fleet,
    link,
    open: async (path = "/", { scope, ...page } = {}) =>
      signedIn(await openPage(page), link(scope), path),
    stop,
    start: async () => {
      served = await begin();
      isUp = true;
    },
  };
}

interface Served {
  fleet: FleetManager;
  access: Access;
  server: PortServer;
}

async function serve(
  on: Stage,
  file: string,
  { env, node }: Pick<StageOptions, "env" | "node">,
  onBug: (bug: unknown) => void,
): Promise<Served> {
  const own = { ...on.env, CLAUDE_CODE_MAX_RETRIES: "1", ...env };
  const fleet = new FleetManager({ file, env: own, node });
  await fleet.start();
  const access = new Access(fleet);
  const app = createApp(fleet, { onBug, access });
  return { fleet, access, server: await servePort(fleet, app, access, { onBug }) };
}

async function signedIn(page: Page, link: string, path: string): Promise<Page> {
  await page.goto(link);
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
  if (path !== "/") await page.goto(new URL(path, link).href);
  return page;
}
