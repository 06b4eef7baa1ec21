import type { Server } from "node:http";
import { Ledger, type LedgerEntry } from "./ledger.ts";
import { Model } from "./reply/model.ts";
import { checkScript, loadScript } from "./script/load.ts";
import type { Script } from "./script/schema.ts";
import { listenOnPort, listenOnSocket } from "./server/listen.ts";
import { receive } from "./server/reception.ts";
import { routesOf } from "./server/routes.ts";

export interface RehearsalOptions {
  /** A script, or the file it is in. Without one, every prompt gets the default answer. */
  script?: Script | string;
  /** Overrides the script's own mode. */
  mode?: "scripted" | "obedient";
  /** A port on 127.0.0.1, 0 for any free one. Any free one too when no socket is named either. */
  port?: number;
  socketPath?: string;
  /** How many request bodies the ledger keeps; 200 unless told. */
  keepBodies?: number;
  /** How many entries the ledger keeps; 10,000 unless told. */
  keepEntries?: number;
  /** Called when a request is about to be answered (`end` is `open`) and again when it is over. */
  onRequest?: (entry: LedgerEntry) => void;
}

export interface Rehearsal {
  url: string | undefined;
  port: number | undefined;
  socketPath: string | undefined;
  ledger: Ledger;
  /** What a claude process needs in its environment to talk to this rehearsal. */
  env(): Record<string, string>;
  /** Closes the server and every open stream; may be called again. */
  stop(): Promise<void>;
}

/** Starts the scripted model on 127.0.0.1, on a unix socket, or on both. */
export async function startRehearsal(options: RehearsalOptions = {}): Promise<Rehearsal> {
  const { script: given = {}, socketPath, onRequest } = options;
  const script = typeof given === "string" ? await loadScript(given) : checkScript(given);
  const mode = options.mode ?? script.mode ?? "scripted";
  const ledger = new Ledger(options.keepBodies ?? 200, options.keepEntries ?? 10_000);
  const stopping = new AbortController();
  const routes = routesOf(new Model(script, mode === "obedient"));
  const listener = receive({
    routes,
    keys: script.keys,
    ledger,
    stopping: stopping.signal,
    onRequest,
  });

  const wantedPort = options.port ?? (socketPath === undefined ? 0 : undefined);
  const servers: Server[] = [];
  const stop = async () => {
    stopping.abort();
    await Promise.all(servers.splice(0).map(close));
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
  return { url, port, socketPath, ledger, env: () => environment(url, socketPath), stop };
}

function portOf(server: Server | undefined): number | undefined {
  const address = server?.address();
  return typeof address === "object" ? address?.port : undefined;
}

function environment(url: string | undefined, socketPath: string | undefined) {
  const env: Record<string, string> = {
    ANTHROPIC_BASE_URL: url ?? "http://127.0.0.1",
    ANTHROPIC_API_KEY: "rehearsal",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    NO_PROXY: "127.0.0.1",
  };
  if (url === undefined && socketPath !== undefined) env.ANTHROPIC_UNIX_SOCKET = socketPath;
  return env;
}

async function close(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
}
