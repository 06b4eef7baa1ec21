import { type FleetManager, isLoopback, type WantedPort } from "@herdctl/core";
import type { Access } from "../access/access.ts";
import type { FleetApp } from "../create-app.ts";
import { dashboardFolder } from "../dashboard-folder.ts";
import { createHooksApp } from "../hooks/create-hooks-app.ts";
import { openMcpDoor } from "../mcp/http/mcp-door.ts";
import { createPortApp, type PortApp } from "./create-port-app.ts";
import { type Deadlines, listenOnPort, type PortServer } from "./listen-on-port.ts";
import { StaticFiles } from "./static-files.ts";

export interface ServePortOptions {
  deadlines?: Deadlines;
  /** The folder of a built dashboard. */
  dashboard?: string;
  onBug?(error: unknown): void;
}

const tryEvery = 2_000;

/**
 * Listens where the configuration says, for browsers, programs, MCP clients and webhooks; a reload may move it.
 * A port that is taken holds up no schedule and no agent: the fleet runs on, says so in its status,
 * and tries again.
 */
export async function servePort(
  fleet: FleetManager,
  api: FleetApp,
  access: Access,
  options: ServePortOptions = {},
): Promise<PortServer> {
  const { onBug, dashboard = dashboardFolder } = options;
  const hooks = createHooksApp(fleet.webhooks.door, { onBug });
  const files = new StaticFiles(dashboard);
  const mcp = openMcpDoor(fleet, { onBug });
  const app = createPortApp({ access, api, hooks, mcp, files, onBug });
  const listener = new Listener(fleet, app, access, options);
  await listener.adjust();
  const forget = fleet.on("fleet:reloaded", () => void listener.adjust());
  return {
    stop() {
      forget();
      return listener.stop();
    },
  };
}

class Listener {
  private at: string | undefined;
  private server: (PortServer & { port: number }) | undefined;
  private retry: NodeJS.Timeout | undefined;
  private stopped = false;
  private turn: Promise<void> = Promise.resolve();

  constructor(
    private readonly fleet: FleetManager,
    private readonly app: PortApp,
    private readonly access: Access,
    private readonly options: ServePortOptions,
  ) {}

  /** One after the other, however quickly reloads follow. */
  adjust(): Promise<void> {
    this.turn = this.turn.then(() => this.settle());
    return this.turn;
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.retry);
    await this.turn;
    await this.leave();
  }

  private async settle(): Promise<void> {
    if (this.stopped) return;
    clearTimeout(this.retry);
    const { port } = this.fleet;
    try {
      const { wanted } = port;
      const at = `${wanted.host}:${wanted.port}`;
      const isStray = !wanted.anyPort && this.server?.port !== wanted.port;
      if (at !== this.at || isStray) await this.leave();
      this.server ??= await listenOnPort(this.app, wanted, this.options.deadlines);
      this.at = at;
      // Tokens and names may have changed, though the place has not.
      const url = urlOf(wanted, this.server.port);
      this.access.open(this.server.port, url);
      port.url = url;
      port.problem(undefined);
    } catch (error) {
      await this.leave();
      port.problem(error instanceof Error ? error.message : String(error));
      this.retry = setTimeout(() => void this.adjust(), tryEvery);
    }
  }

  private async leave(): Promise<void> {
    const { server } = this;
    this.server = undefined;
    this.at = undefined;
    this.fleet.port.url = null;
    await server?.stop();
    this.access.close();
  }
}

/** As one calls it in the browser of this machine, or else by the name that was given to it. */
function urlOf({ host, names }: WantedPort, port: number): string {
  if (isLoopback(host)) return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
  const isEvery = host === "0.0.0.0" || host === "::";
  const name = names[0] ?? (isEvery ? "127.0.0.1" : host);
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
}
