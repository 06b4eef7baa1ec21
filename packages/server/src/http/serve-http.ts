import { isLoopback } from "@herdctl/config";
import type { FleetManager } from "@herdctl/core";
import type { HttpServerOptions } from "@herdctl/core/internal";
import { Mutex } from "@herdctl/protocol";
import type { Authenticator } from "../auth/authenticator.ts";
import type { FleetApp } from "../create-app.ts";
import { dashboardFolder } from "../dashboard-folder.ts";
import { createMcpHandler } from "../mcp/http/mcp-handler.ts";
import { createWebhookApp } from "../webhooks/create-webhook-app.ts";
import { createHttpApp, type HttpApp } from "./create-http-app.ts";
import { type HttpServer, listenHttp, type RequestTimeouts } from "./listen-http.ts";
import { StaticFiles } from "./static-files.ts";

export interface ServeHttpOptions {
  timeouts?: RequestTimeouts;
  /** The folder of a built dashboard. */
  dashboard?: string;
  onBug?(error: unknown): void;
}

const retryDelayMs = 2_000;

/**
 * Serves browsers, API clients, MCP clients and webhooks on the configured address. A reload can change
 * the address. If the port is taken, the fleet keeps running, reports the problem in its status and
 * retries.
 */
export async function serveHttp(
  fleet: FleetManager,
  api: FleetApp,
  authenticator: Authenticator,
  options: ServeHttpOptions = {},
): Promise<HttpServer> {
  const { onBug, dashboard = dashboardFolder } = options;
  const webhooks = createWebhookApp(fleet.webhooks.receiver, { onBug });
  const staticFiles = new StaticFiles(dashboard);
  const mcpHandler = createMcpHandler(fleet, { onBug });
  const app = createHttpApp({ authenticator, api, webhooks, mcpHandler, staticFiles, onBug });
  const listener = new HttpListener(fleet, app, authenticator, options);
  await listener.reconcile();
  const unsubscribe = fleet.on("fleet:reloaded", () => void listener.reconcile());
  return {
    stop() {
      unsubscribe();
      return listener.stop();
    },
  };
}

class HttpListener {
  private address: string | undefined;
  private server: (HttpServer & { port: number }) | undefined;
  private retryTimer: NodeJS.Timeout | undefined;
  private isStopped = false;
  private readonly reconciling = new Mutex();

  constructor(
    private readonly fleet: FleetManager,
    private readonly app: HttpApp,
    private readonly authenticator: Authenticator,
    private readonly options: ServeHttpOptions,
  ) {}

  /** Runs one after the other, even if reloads overlap. */
  reconcile(): Promise<void> {
    return this.reconciling.runExclusive(() => this.applyConfig());
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    clearTimeout(this.retryTimer);
    await this.reconciling.whenIdle();
    await this.closeServer();
  }

  private async applyConfig(): Promise<void> {
    if (this.isStopped) return;
    clearTimeout(this.retryTimer);
    const { http } = this.fleet;
    try {
      const { serverOptions } = http;
      const address = `${serverOptions.host}:${serverOptions.port}`;
      const hasWrongPort = !serverOptions.canUseAnyPort && this.server?.port !== serverOptions.port;
      if (address !== this.address || hasWrongPort) await this.closeServer();
      this.server ??= await listenHttp(this.app, serverOptions, this.options.timeouts);
      this.address = address;
      // Tokens and host names may have changed even if the address has not.
      const url = urlOf(serverOptions, this.server.port);
      this.authenticator.enable(this.server.port, url);
      http.url = url;
      http.reportProblem(undefined);
    } catch (error) {
      await this.closeServer();
      http.reportProblem(error instanceof Error ? error.message : String(error));
      this.retryTimer = setTimeout(() => void this.reconcile(), retryDelayMs);
    }
  }

  private async closeServer(): Promise<void> {
    const { server } = this;
    this.server = undefined;
    this.address = undefined;
    this.fleet.http.url = null;
    await server?.stop();
    this.authenticator.disable();
  }
}

/** The URL to open in a browser on this machine, or the first allowed host name. */
function urlOf({ host, allowedHosts }: HttpServerOptions, port: number): string {
  if (isLoopback(host)) return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
  const isWildcard = host === "0.0.0.0" || host === "::";
  const name = allowedHosts[0] ?? (isWildcard ? "127.0.0.1" : host);
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
}
