import { Agent, type IncomingMessage, request } from "node:http";
import { hasErrorCode } from "@herdctl/protocol";
import { type RouteName, routes } from "../contract/routes.ts";
import { resolveSocketPath } from "../socket/socket-path.ts";
import { errorFromResponse, unreachableError } from "./error-from-response.ts";
import { type ReceivedSseEvent, readSseEvents } from "./read-sse-events.ts";

export interface FleetRequest {
  params?: Record<string, string>;
  query?: Record<string, unknown>;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** Error codes that mean that no process listens on the socket. */
const noListenerErrorCodes = ["ENOENT", "ECONNREFUSED", "ECONNRESET", "EINVAL", "ENAMETOOLONG"];
const pingTimeoutMs = 10_000;

/** Keeps Node from looking up a server name, which is slow the first time and useless for a socket. */
const noServerName = { servername: "" };

/** An HTTP client for the fleet's socket. */
export class FleetHttpClient {
  readonly #agent = new Agent({ keepAlive: true });

  constructor(private readonly socketPath: string) {}

  /** False if no process listens on the socket. */
  async isReachable(): Promise<boolean> {
    const signal = AbortSignal.timeout(pingTimeoutMs);
    try {
      await readText(await this.#sendRequest("ping", { signal }));
      return true;
    } catch (error) {
      if (hasErrorCode(error, ...noListenerErrorCodes)) return false;
      throw this.#disconnectedError("is not responding", error);
    }
  }

  async call(name: RouteName, message: FleetRequest = {}): Promise<unknown> {
    const response = await this.openResponse(name, message);
    const text = await this.#mapDisconnect(readText(response), message.signal);
    return text === "" ? undefined : JSON.parse(text);
  }

  /** Returns the response before its body has arrived. */
  async openResponse(name: RouteName, message: FleetRequest = {}): Promise<IncomingMessage> {
    const { signal } = message;
    const response = await this.#mapDisconnect(this.#sendRequest(name, message), signal);
    const status = response.statusCode ?? 0;
    if (status < 300) return response;
    throw errorFromResponse(status, await this.#mapDisconnect(readText(response), signal));
  }

  /** Streams server-sent events until the signal or the end of the stream. A dropped connection is an error. */
  async *streamEvents(
    openResponse: () => Promise<IncomingMessage>,
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

  #sendRequest(name: RouteName, message: FleetRequest): Promise<IncomingMessage> {
    const [method, path] = routes[name];
    const { params = {}, query = {}, body, headers, signal } = message;
    const json = body === undefined ? undefined : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const clientRequest = request({
        socketPath: resolveSocketPath(this.socketPath),
        ...noServerName,
        agent: this.#agent,
        method,
        path: fillPath(path, params) + toQueryString(query),
        headers: { ...headers, ...(json && { "content-type": "application/json" }) },
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

  #disconnectedError(reason: string, error: unknown): Error {
    return unreachableError(`the fleet at ${this.socketPath} ${reason}`, error);
  }
}

async function readText(response: IncomingMessage): Promise<string> {
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
