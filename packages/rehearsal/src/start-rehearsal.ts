import type { Server } from "node:http";
import { createProviderRoutes } from "./providers/provider-routes.ts";
import { rehearsedProviders } from "./providers/rehearsed-providers.ts";
import { ScriptedModel } from "./reply/scripted-model.ts";
import { Ledger, type LedgerEntry } from "./request-ledger.ts";
import { checkScript, loadScript } from "./script/load-script.ts";
import type { Script } from "./script/script-schema.ts";
import { listenOnPort, listenOnSocket } from "./server/listen.ts";
import { createRequestHandler } from "./server/request-handler.ts";
import { createRoutes } from "./server/routes.ts";

export interface RehearsalOptions {
  /** A script or its file name. Without one, every prompt gets the default reply. */
  script?: Script | string;
  /** Overrides the script's own mode. */
  mode?: "scripted" | "obedient";
  /** A port on 127.0.0.1; 0 for any free port. Default: any free port, unless `socketPath` is set. */
  port?: number;
  socketPath?: string;
  /** The number of request bodies the ledger keeps. Default: 200. */
  maxBodies?: number;
  /** The number of entries the ledger keeps. Default: 10,000. */
  maxEntries?: number;
  /** Called before the response to a request (with `end: "open"`) and again after it. */
  onRequest?: (entry: LedgerEntry) => void;
}

export interface Rehearsal {
  url: string | undefined;
  port: number | undefined;
  socketPath: string | undefined;
  ledger: Ledger;
  /** Environment variables that point a claude process, or all agents of a fleet, to this rehearsal. */
  env(): Record<string, string>;
  /** Closes the server and all open streams. Can be called repeatedly. */
  stop(): Promise<void>;
}

/** Starts the scripted model on 127.0.0.1, on a unix socket, or on both. */
export async function startRehearsal(options: RehearsalOptions = {}): Promise<Rehearsal> {
  const { socketPath, onRequest } = options;
  const script =
    typeof options.script === "string"
      ? await loadScript(options.script)
      : checkScript(options.script ?? {});
  const mode = options.mode ?? script.mode ?? "scripted";
  const ledger = new Ledger(options.maxBodies ?? 200, options.maxEntries ?? 10_000);
  const stopping = new AbortController();
  const model = new ScriptedModel(script, mode === "obedient");
  const anthropicRoutes = createRoutes(model);
  const providerRoutes = new Map(
    rehearsedProviders.map((provider) => [provider, createProviderRoutes(model, provider)]),
  );
  const listener = createRequestHandler({
    routes: (provider) => (provider && providerRoutes.get(provider)) ?? anthropicRoutes,
    acceptedKeys: script.keys,
    ledger,
    stopping: stopping.signal,
    onRequest,
  });

  const wantedPort = options.port ?? (socketPath === undefined ? 0 : undefined);
  const servers: Server[] = [];
  const stop = async () => {
    stopping.abort();
    await Promise.all(servers.splice(0).map(closeServer));
  };
  try {
    if (socketPath !== undefined) servers.push(await listenOnSocket(socketPath, listener));
    if (wantedPort !== undefined) servers.push(await listenOnPort(wantedPort, listener));
  } catch (error) {
    await stop();
    throw error;
  }
  const port = wantedPort === undefined ? undefined : portOf(servers.at(-1));
  const url = port === undefined ? undefined : `http://127.0.0.1:${port}`;
  return { url, port, socketPath, ledger, env: () => claudeEnvironment(url, socketPath), stop };
}

function portOf(server: Server | undefined): number | undefined {
  const address = server?.address();
  return typeof address === "object" ? address?.port : undefined;
}

function claudeEnvironment(url: string | undefined, socketPath: string | undefined) {
  const env: Record<string, string> = {
    ANTHROPIC_BASE_URL: url ?? "http://127.0.0.1",
    ANTHROPIC_API_KEY: "rehearsal-key",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    NO_PROXY: "127.0.0.1",
  };
  if (url !== undefined) env.HERDCTL_REHEARSAL_URL = url;
  if (url === undefined && socketPath !== undefined) env.ANTHROPIC_UNIX_SOCKET = socketPath;
  return env;
}

async function closeServer(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
}
