import type { FleetManager } from "@herdctl/core";
import { addMcpRoute } from "../mcp/http/add-mcp-route.ts";
import { createHooksApp, type HooksApp, type HooksOptions } from "./create-hooks-app.ts";
import { type Deadlines, type PortServer, serveOnPort } from "./serve-on-port.ts";

export interface HooksServer {
  stop(): Promise<void>;
}

export interface ServeHooksOptions extends HooksOptions {
  deadlines?: Deadlines;
}

const tryEvery = 2_000;

/**
 * Listens where the configuration says, for as long as some schedule takes deliveries or the fleet is
 * open as tools; a reload may begin, end or move it. A port that is taken holds up no schedule and no agent: the fleet runs on,
 * says so in its status, and tries again.
 */
export async function serveHooks(
  fleet: FleetManager,
  options: ServeHooksOptions = {},
): Promise<HooksServer> {
  const app = createHooksApp(fleet.webhooks.door, options);
  addMcpRoute(app, fleet, options);
  const listener = new Listener(fleet, app, options);
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
  private server: PortServer | undefined;
  private retry: NodeJS.Timeout | undefined;
  private stopped = false;
  private turn: Promise<void> = Promise.resolve();

  constructor(
    private readonly fleet: FleetManager,
    private readonly app: HooksApp,
    private readonly options: ServeHooksOptions,
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
    await this.server?.stop();
  }

  private async settle(): Promise<void> {
    if (this.stopped) return;
    clearTimeout(this.retry);
    const { webhooks, mcp } = this.fleet;
    const address = webhooks.address ?? mcp.address;
    const wanted = address && `${address.host}:${address.port}`;
    if (wanted === this.at) return;
    await this.server?.stop();
    this.server = undefined;
    this.at = undefined;
    try {
      this.server = address && (await serveOnPort(this.app, address, this.options.deadlines));
      this.at = wanted;
      webhooks.problem(undefined);
    } catch (error) {
      webhooks.problem(error instanceof Error ? error.message : String(error));
      this.retry = setTimeout(() => void this.adjust(), tryEvery);
    }
  }
}
