import { setImmediate } from "node:timers/promises";
import type { JSONRPCRequest, JSONRPCResponse } from "@modelcontextprotocol/sdk/types.js";
import { waitForAbort, withTimeout } from "../../../lib/timeout.ts";
import type { BridgedServer } from "./bridged-server.ts";
import { describeError, ServerConnection, type ServerMessage } from "./connection.ts";

export interface ReconnectingConnectionOptions {
  /** How long a server may take to start, in milliseconds. */
  timeoutMs: number;
  onSpawned(pid: number): void;
  onMessage(message: ServerMessage, from: ServerConnection): void;
  /** Logs a problem of the server with the last lines of its stderr. */
  logNote(reason: string, stderr: string[]): void;
}

/** Restarts a server that has exited when it is next needed, as claude does for its own servers. */
export class ReconnectingConnection {
  private current: Promise<ServerConnection> | undefined;
  private latest: ServerConnection | undefined;
  private initializeRequest: JSONRPCRequest | undefined;
  private readonly closing = new AbortController();
  private readonly stderr = new StderrTail();

  constructor(
    private readonly server: BridgedServer,
    private readonly options: ReconnectingConnectionOptions,
  ) {}

  /** Starts the server, so that it is ready when claude needs it. */
  open(): Promise<ServerConnection> {
    if (this.current) return this.current;
    this.current = this.connect();
    // The first request reports the error.
    this.current.catch(() => undefined);
    return this.current;
  }

  /** Sends the first request to the server. If it fails, the server is not started again. */
  async initialize(request: JSONRPCRequest): Promise<JSONRPCResponse> {
    try {
      const answer = await this.withTimeout(
        this.open().then((connection) => sendInitialize(connection, request)),
      );
      this.initializeRequest = request;
      return answer;
    } catch (error) {
      void this.latest?.close();
      const failure = `it could not be started: ${describeError(error)}`;
      await this.reportNote(failure);
      throw new Error(failure);
    }
  }

  async getConnection(): Promise<ServerConnection> {
    const previous = this.current;
    const connection = await previous?.catch(() => undefined);
    if (connection && connection.endReason === undefined) return connection;
    if (this.initializeRequest === undefined || this.closing.signal.aborted) {
      throw new Error(connection?.endReason ?? "it was not started");
    }
    if (this.current === previous) this.current = this.reconnect(this.initializeRequest);
    return await this.open();
  }

  /** Stops the server: closes its input, terminates it, then kills it. */
  async close(): Promise<void> {
    this.closing.abort();
    await this.latest?.close();
  }

  /** Rejects after the timeout, or when the run is over. */
  withTimeout<T>(promise: Promise<T>): Promise<T> {
    const { timeoutMs } = this.options;
    const { signal } = this.closing;
    return withTimeout(signal, timeoutMs, (limit) => {
      const failed = waitForAbort(limit).then(() => {
        if (signal.aborted) throw new Error("the run is over");
        throw new Error(`it did not answer within ${timeoutMs / 1_000} s`);
      });
      return Promise.race([promise, failed]);
    });
  }

  private async reconnect(initializeRequest: JSONRPCRequest): Promise<ServerConnection> {
    try {
      const connection = await this.withTimeout(this.connect());
      await this.withTimeout(sendInitialize(connection, initializeRequest));
      connection.notify({ jsonrpc: "2.0", method: "notifications/initialized" });
      return connection;
    } catch (error) {
      void this.latest?.close();
      throw error;
    }
  }

  private async connect(): Promise<ServerConnection> {
    const { onSpawned, onMessage } = this.options;
    const onStderr = (text: string) => this.stderr.add(text);
    const transport = await this.server.connect({ onSpawned, onStderr });
    this.closing.signal.throwIfAborted();
    const connection: ServerConnection = new ServerConnection(transport, {
      onMessage: (message) => onMessage(message, connection),
      onEnd: (reason) => {
        if (this.initializeRequest) void this.reportNote(reason);
      },
    });
    this.latest = connection;
    await connection.start();
    return connection;
  }

  private async reportNote(reason: string): Promise<void> {
    // The last lines of stderr arrive slightly later, through another pipe.
    await setImmediate();
    this.options.logNote(reason, this.stderr.take());
  }
}

async function sendInitialize(
  connection: ServerConnection,
  initializeRequest: JSONRPCRequest,
): Promise<JSONRPCResponse> {
  const answer = await connection.request(initializeRequest);
  if ("error" in answer) throw new Error(answer.error.message);
  const version = answer.result.protocolVersion;
  if (typeof version === "string") connection.setProtocolVersion(version);
  return answer;
}

const maxKeptChars = 4 * 1024;

/** Keeps the last whole lines of a program's stderr, because half a secret could not be masked. */
export class StderrTail {
  private text = "";
  private isMidLine = false;

  add(text: string): void {
    this.text += text;
    if (this.isMidLine) this.dropUntilLineAfter(0);
    if (this.text.length > maxKeptChars) this.dropUntilLineAfter(this.text.length - maxKeptChars);
  }

  /** Returns the lines and clears the buffer. */
  take(): string[] {
    const lines = this.text.split("\n").filter((line) => line.trim() !== "");
    this.text = "";
    return lines;
  }

  private dropUntilLineAfter(position: number): void {
    const end = this.text.indexOf("\n", position);
    this.isMidLine = end === -1;
    this.text = end === -1 ? "" : this.text.slice(end + 1);
  }
}
