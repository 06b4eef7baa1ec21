import { Agent, type IncomingMessage, request } from "node:http";
import { type RouteName, routes } from "../contract/routes.ts";
import { socketAt } from "../socket/socket-path.ts";
import { failureOf, hasCode, unreachable } from "./failure.ts";
import { type ReadFrame, readFrames } from "./read-frames.ts";

export interface Message {
  params?: Record<string, string>;
  query?: Record<string, unknown>;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** How the operating system says that nobody is there, or not any more. */
const nobody = ["ENOENT", "ECONNREFUSED", "ECONNRESET", "EINVAL", "ENAMETOOLONG"];
const patience = 10_000;

/** Of a host, which a socket has none of; unless told so, Node looks for it, and slowly at first. */
const nameless = { servername: "" };

/** HTTP over the socket of a fleet. */
export class Wire {
  readonly #agent = new Agent({ keepAlive: true });

  constructor(private readonly socketPath: string) {}

  /** False when nobody is there. */
  async reaches(): Promise<boolean> {
    const signal = AbortSignal.timeout(patience);
    try {
      await textOf(await this.#send("ping", { signal }));
      return true;
    } catch (error) {
      if (nobody.some((code) => hasCode(error, code))) return false;
      throw this.#gone("does not answer", error);
    }
  }

  async ask(name: RouteName, message: Message = {}): Promise<unknown> {
    const response = await this.open(name, message);
    const text = await this.#orGone(textOf(response), message.signal);
    return text === "" ? undefined : JSON.parse(text);
  }

  /** The head of an answer, with its body still to come. */
  async open(name: RouteName, message: Message = {}): Promise<IncomingMessage> {
    const { signal } = message;
    const response = await this.#orGone(this.#send(name, message), signal);
    const status = response.statusCode ?? 0;
    if (status < 300) return response;
    throw failureOf(status, await this.#orGone(textOf(response), signal));
  }

  /** What comes bit by bit. It ends with the signal, or as the fleet ends it; a cut is an error. */
  async *frames(
    open: () => Promise<IncomingMessage>,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<ReadFrame> {
    try {
      yield* readFrames(await open());
    } catch (error) {
      if (signal?.aborted) return;
      throw hasCode(error, "ECONNRESET") ? this.#gone("has gone", error) : error;
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  #send(name: RouteName, message: Message): Promise<IncomingMessage> {
    const [method, path] = routes[name];
    const { params = {}, query = {}, body, headers, signal } = message;
    const json = body === undefined ? undefined : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const sent = request({
        socketPath: socketAt(this.socketPath),
        ...nameless,
        agent: this.#agent,
        method,
        path: filled(path, params) + search(query),
        headers: { ...headers, ...(json && { "content-type": "application/json" }) },
        signal,
      });
      sent.once("response", resolve);
      sent.once("socket", (socket) => {
        // Node may report late that a long body met a closed end, when nobody listens any more.
        if (!sent.reusedSocket) socket.on("error", () => undefined);
      });
      sent.on("error", reject);
      sent.end(json);
    });
  }

  async #orGone<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    try {
      return await work;
    } catch (error) {
      throw signal?.aborted ? signal.reason : this.#gone("has gone", error);
    }
  }

  #gone(how: string, error: unknown): Error {
    return unreachable(`the fleet at ${this.socketPath} ${how}`, error);
  }
}

async function textOf(response: IncomingMessage): Promise<string> {
  response.setEncoding("utf8");
  const parts: string[] = [];
  for await (const part of response) parts.push(part);
  return parts.join("");
}

function filled(path: string, params: Record<string, string>): string {
  return path.replaceAll(/:(\w+)/g, (_, name) => encodeURIComponent(params[name] ?? ""));
}

function search(query: Record<string, unknown>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const words = given.map(([name, value]): [string, string] => [name, wordOf(value)]);
  return words.length === 0 ? "" : `?${new URLSearchParams(words)}`;
}

function wordOf(value: unknown): string {
  return value instanceof Date ? value.toISOString() : String(value);
}
