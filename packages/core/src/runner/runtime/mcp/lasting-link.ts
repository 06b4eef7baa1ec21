import { setImmediate } from "node:timers/promises";
import type { JSONRPCRequest, JSONRPCResponse } from "@modelcontextprotocol/sdk/types.js";
import type { BridgedServer } from "./bridged-server.ts";
import { LastLines } from "./last-lines.ts";
import { Link, type ServerWord } from "./link.ts";
import { reasonOf } from "./reason-of.ts";
import { within } from "./within.ts";

export interface LinkOptions {
  /** How long a server may take to start, in milliseconds. */
  patience: number;
  spawned(pid: number): void;
  onWord(word: ServerWord, from: Link): void;
  /** Why the server is not what it should be, and the last that it said on standard error. */
  note(reason: string, stderr: string[]): void;
}

/** A server that ended is started again when it is next needed, as claude itself would. */
export class LastingLink {
  private current: Promise<Link> | undefined;
  private newest: Link | undefined;
  private introduction: JSONRPCRequest | undefined;
  private readonly over = new AbortController();
  private readonly stderr = new LastLines();

  constructor(
    private readonly server: BridgedServer,
    private readonly options: LinkOptions,
  ) {}

  /** Starts the server, so that it is ready by the time claude asks. */
  open(): Promise<Link> {
    if (this.current) return this.current;
    this.current = this.connect();
    // Whoever asks first hears of it.
    this.current.catch(() => undefined);
    return this.current;
  }

  /** The first word to a server; one that cannot answer it is not tried again. */
  async introduce(request: JSONRPCRequest): Promise<JSONRPCResponse> {
    try {
      const answer = await this.soon(this.open().then((link) => greet(link, request)));
      this.introduction = request;
      return answer;
    } catch (error) {
      void this.newest?.close();
      const failure = `it could not be started: ${reasonOf(error)}`;
      await this.note(failure);
      throw new Error(failure);
    }
  }

  async live(): Promise<Link> {
    const seen = this.current;
    const link = await seen?.catch(() => undefined);
    if (link && link.ended === undefined) return link;
    if (this.introduction === undefined || this.over.signal.aborted) {
      throw new Error(link?.ended ?? "it was not started");
    }
    if (this.current === seen) this.current = this.revive(this.introduction);
    return await this.open();
  }

  /** Ends the server: by closing its input, by asking, by force. */
  async close(): Promise<void> {
    this.over.abort();
    await this.newest?.close();
  }

  soon<T>(promise: Promise<T>): Promise<T> {
    const { patience } = this.options;
    const reason = `it did not answer within ${patience / 1_000} s`;
    return within(promise, patience, reason, this.over.signal);
  }

  private async revive(introduction: JSONRPCRequest): Promise<Link> {
    try {
      const link = await this.soon(this.connect());
      await this.soon(greet(link, introduction));
      link.tell({ jsonrpc: "2.0", method: "notifications/initialized" });
      return link;
    } catch (error) {
      void this.newest?.close();
      throw error;
    }
  }

  private async connect(): Promise<Link> {
    const { spawned, onWord } = this.options;
    const stderr = (text: string) => this.stderr.add(text);
    const transport = await this.server.connect({ spawned, stderr });
    this.over.signal.throwIfAborted();
    const link: Link = new Link(transport, {
      onWord: (word) => onWord(word, link),
      onEnd: (reason) => {
        if (this.introduction) void this.note(reason);
      },
    });
    this.newest = link;
    await link.start();
    return link;
  }

  private async note(reason: string): Promise<void> {
    // What it said last comes through a pipe of its own, a moment later.
    await setImmediate();
    this.options.note(reason, this.stderr.take());
  }
}

async function greet(link: Link, introduction: JSONRPCRequest): Promise<JSONRPCResponse> {
  const answer = await link.request(introduction);
  if ("error" in answer) throw new Error(answer.error.message);
  const version = answer.result.protocolVersion;
  if (typeof version === "string") link.speak(version);
  return answer;
}
