import * as http from "node:http";
import * as https from "node:https";
import { UserError } from "../errors/user-error.ts";
import { hasErrorCode } from "../lib/error-code.ts";
import { errorFromResponse, unreachableError } from "./error-from-response.ts";
import { type ReceivedSseEvent, readSseEvents } from "./read-sse-events.ts";
import { type RouteName, routes } from "./routes.ts";
import { resolveSocketPath } from "./socket-path.ts";

export type FleetTarget = { socketPath: string } | { url: string; token: string };

export interface FleetRequest {
  params?: Record<string, string>;
  query?: Record<string, unknown>;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** Error codes that mean that no process listens. */
const noListenerErrorCodes = ["ENOENT", "ECONNREFUSED", "ECONNRESET", "EINVAL", "ENAMETOOLONG"];
const pingTimeoutMs = 10_000;

/** Keeps Node from looking up a server name, which is slow the first time and useless for a socket. */
const noServerName = { servername: "" };

/** An HTTP client for the fleet's socket or port. */
export class FleetHttpClient {
  readonly #agent: http.Agent;

  constructor(private readonly target: FleetTarget) {
    const { Agent } = this.#transport;
    this.#agent = new Agent({ keepAlive: true });
  }

  /** False if no process listens. */
  async isReachable(): Promise<boolean> {
    const signal = AbortSignal.timeout(pingTimeoutMs);
    try {
      const response = await this.#sendRequest("ping", { signal });
      const text = await readText(response);
      const status = response.statusCode ?? 0;
      if (status >= 300) throw errorFromResponse(status, text);
      return true;
    } catch (error) {
      if (hasErrorCode(error, ...noListenerErrorCodes)) return false;
      if (error instanceof UserError) throw error;
      throw this.#disconnectedError("is not responding", error);
    }
  }

  async call(name: RouteName, message: FleetRequest = {}): Promise<unknown> {
    const response = await this.openResponse(name, message);
    const text = await this.#mapDisconnect(readText(response), message.signal);
    return text === "" ? undefined : JSON.parse(text);
  }

  /** Returns the response before its body has arrived. */
  async openResponse(name: RouteName, message: FleetRequest = {}): Promise<http.IncomingMessage> {
    const { signal } = message;
    const response = await this.#mapDisconnect(this.#sendRequest(name, message), signal);
    const status = response.statusCode ?? 0;
    if (status < 300) return response;
    throw errorFromResponse(status, await this.#mapDisconnect(readText(response), signal));
  }

  /** Streams server-sent events until the signal or the end of the stream. A dropped connection is an error. */
  async *streamEvents(
    openResponse: () => Promise<http.IncomingMessage>,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<ReceivedSseEvent> {
    try {
      yield* readSseEvents(await openResponse());
    } catch (error) {
      if (signal?.aborted) return;
      throw hasErrorCode(error, "ECONNRESET")
        ? this.#disconnectedError("closed the connection", error)
        : error;
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  #sendRequest(name: RouteName, message: FleetRequest): Promise<http.IncomingMessage> {
    const [method, path] = routes[name];
    const { params = {}, query = {}, body, headers, signal } = message;
    const json = body === undefined ? undefined : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const clientRequest = this.#transport.request({
        ...this.#addressOf(fillPath(path, params) + toQueryString(query)),
        agent: this.#agent,
        method,
        headers: {
          ...headers,
          ...("token" in this.target && { authorization: `Bearer ${this.target.token}` }),
          ...(json && { "content-type": "application/json" }),
        },
        signal,
      });
      clientRequest.once("response", resolve);
      clientRequest.once("socket", (socket) => {
        // Node may emit a late error for a long body after our listeners are gone.
        if (!clientRequest.reusedSocket) socket.on("error", () => undefined);
      });
      clientRequest.on("error", reject);
      clientRequest.end(json);
    });
  }

  async #mapDisconnect<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    try {
      return await work;
    } catch (error) {
      throw signal?.aborted
        ? signal.reason
        : this.#disconnectedError("closed the connection", error);
    }
  }

  get #transport() {
    return "url" in this.target && new URL(this.target.url).protocol === "https:" ? https : http;
  }

  #addressOf(path: string): http.RequestOptions {
    const { target } = this;
    if ("socketPath" in target)
      return { socketPath: resolveSocketPath(target.socketPath), ...noServerName, path };
    const { hostname, port, pathname } = new URL(target.url);
    // An IPv6 address is in brackets in a URL, but not in a request.
    const host = hostname.replace(/^\[(.*)\]$/, "$1");
    return { host, port, path: pathname.replace(/\/$/, "") + path };
  }

  #disconnectedError(reason: string, error: unknown): Error {
    const address = "url" in this.target ? this.target.url : this.target.socketPath;
    return unreachableError(`the fleet at ${address} ${reason}`, error);
  }
}

async function readText(response: http.IncomingMessage): Promise<string> {
  response.setEncoding("utf8");
  const parts: string[] = [];
  for await (const part of response) parts.push(part);
  return parts.join("");
}

function fillPath(path: string, params: Record<string, string>): string {
  return path.replaceAll(/:(\w+)/g, (_, name) => encodeURIComponent(params[name] ?? ""));
}

function toQueryString(query: Record<string, unknown>): string {
  const entries = Object.entries(query).filter(([, value]) => value !== undefined);
  const pairs = entries.map(([name, value]): [string, string] => [name, formatQueryValue(value)]);
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs)}`;
}

function formatQueryValue(value: unknown): string {
  return value instanceof Date ? value.toISOString() : String(value);
}
