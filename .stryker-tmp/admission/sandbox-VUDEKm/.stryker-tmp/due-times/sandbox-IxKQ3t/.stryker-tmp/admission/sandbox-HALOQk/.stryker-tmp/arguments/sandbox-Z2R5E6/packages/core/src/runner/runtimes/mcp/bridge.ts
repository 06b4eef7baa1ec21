import type {
  JSONRPCNotification,
  JSONRPCRequest,
  JSONRPCResponse,
} from "@modelcontextprotocol/sdk/types.js";
import type { BridgedServer } from "./bridged-server.ts";
import { describeError, type ServerConnection, type ServerMessage } from "./connection.ts";
import { isRequest, isResponse } from "./json-rpc.ts";
import {
  canNotifyServer,
  canReachClaude,
  filterCapabilities,
  type RequiredAccess,
  requiredAccessFor,
  withoutCapabilities,
} from "./method-rules.ts";
import { ReconnectingConnection } from "./reconnecting-connection.ts";

export interface McpBridgeOptions {
  /** Timeout for requests other than tool calls. */
  timeoutMs: number;
  canCall(tool: string, input: unknown): boolean;
  /** Whether the agent's rules allow access to resources, prompts and so on. */
  canAccess(access: Exclude<RequiredAccess, "tool">): boolean;
  onSpawned(pid: number): void;
  logNote(text: string): void;
}

/** Forwards messages between claude and one MCP server that runs or is reached outside its container. */
export class McpBridge {
  private readonly connection: ReconnectingConnection;
  private readonly rateLimiter = new MessageRateLimiter();
  private initializeResponse: Promise<JSONRPCResponse> | undefined;
  private isInitialized = false;
  private closed: Promise<void> | undefined;
  private onServerMessage: (message: ServerMessage) => void = () => undefined;

  constructor(
    private readonly name: string,
    private readonly server: BridgedServer,
    private readonly options: McpBridgeOptions,
  ) {
    this.connection = new ReconnectingConnection(server, {
      timeoutMs: options.timeoutMs,
      onSpawned: options.onSpawned,
      onMessage: (message, from) => this.forwardToClaude(message, from),
      logNote: (reason, stderr) => this.logNote([reason, ...stderr.map((line) => `  ${line}`)]),
    });
  }

  open(): void {
    void this.connection.open();
  }

  /** Sets the callback for requests and notifications from the server. */
  setListener(onServerMessage: (message: ServerMessage) => void): void {
    this.onServerMessage = onServerMessage;
  }

  /** Never rejects: failures become error responses. */
  async sendRequest(request: JSONRPCRequest): Promise<JSONRPCResponse> {
    try {
      if (request.method === "initialize") return await this.answerInitialize(request);
      this.assertPermitted(request);
      const connection = await this.connection.getConnection();
      const response = connection.request(request);
      // claude itself limits the duration of tool calls.
      return await (request.method === "tools/call"
        ? response
        : this.connection.withTimeout(response));
    } catch (error) {
      const message = this.formatNote(describeError(error)).slice(0, maxReasonLength);
      return { jsonrpc: "2.0", id: request.id, error: { code: -32000, message } };
    }
  }

  notify(message: JSONRPCNotification | JSONRPCResponse): void {
    const method = isResponse(message) ? undefined : message.method;
    if (method !== undefined && !canNotifyServer(method)) return;
    if (method === "notifications/initialized") {
      if (this.isInitialized) return;
      this.isInitialized = true;
    }
    void this.connection.open().then(
      (connection) => connection.notify(message),
      // The next request reports that the server is not available.
      () => undefined,
    );
  }

  close(): Promise<void> {
    this.closed ??= this.shutDown();
    return this.closed;
  }

  /** The SDK and claude both send `initialize`, claude twice; the server only gets the first one. */
  private async answerInitialize(request: JSONRPCRequest): Promise<JSONRPCResponse> {
    this.initializeResponse ??= this.connection.initialize(withoutCapabilities(request));
    const answer = { ...(await this.initializeResponse), id: request.id };
    if ("error" in answer) return answer;
    return { ...answer, result: filterCapabilities(answer.result, this.canAccess) };
  }

  private readonly canAccess = (access: RequiredAccess) =>
    access !== "tool" && this.options.canAccess(access);

  private assertPermitted({ method, params }: JSONRPCRequest): void {
    const access = requiredAccessFor(method);
    const isPermitted =
      access === "tool"
        ? this.options.canCall(String(params?.name), params?.arguments)
        : /* defence: bridge-method-list */ access !== undefined && this.options.canAccess(access);
    if (isPermitted) return;
    const name = access === "tool" ? params?.name : method;
    const refusal = `\`${name}\` is not permitted for this agent`;
    this.logNote([refusal.slice(0, maxReasonLength)]);
    throw new Error(refusal);
  }

  private forwardToClaude(message: ServerMessage, from: ServerConnection): void {
    const isKnown = canReachClaude(message);
    if (isKnown && this.rateLimiter.tryAccept(message)) {
      this.onServerMessage(message);
      return;
    }
    if (!isRequest(message)) return;
    const error = isKnown
      ? { code: -32000, message: "too many messages" }
      : { code: methodNotFoundCode, message: `Method not found: ${message.method}` };
    from.notify({ jsonrpc: "2.0", id: message.id, error });
  }

  private async shutDown(): Promise<void> {
    await this.connection.close();
    const { dropped } = this.rateLimiter;
    if (dropped > 0) this.logNote([`${dropped} unsolicited messages were dropped`]);
  }

  private logNote(lines: string[]): void {
    this.options.logNote(`${this.formatNote(lines.join("\n"))}\n`);
  }

  private formatNote(text: string): string {
    return maskSecrets(`MCP server \`${this.name}\`: ${text}`, this.server.secrets ?? []);
  }
}

const maxReasonLength = 500;
const methodNotFoundCode = -32601;

/** Shorter values are words such as `true`, which are not secret and occur everywhere. */
const minSecretLength = 6;

/** Replaces every secret with `***`. */
export function maskSecrets(text: string, secrets: readonly string[]): string {
  const longestFirst = secrets
    .flatMap((secret) => [secret, ...secret.split(/\s+/)])
    .filter((secret) => secret.length >= minSecretLength)
    .sort((a, b) => b.length - a.length);
  return longestFirst.reduce((masked, secret) => masked.replaceAll(secret, "***"), text);
}

const maxMessagesPerSecond = 100;

const maxMessageLength = 64 * 1024;

/**
 * Limits unsolicited messages of a server, so that it cannot flood our memory or claude. Messages
 * above the limit are dropped.
 */
export class MessageRateLimiter {
  dropped = 0;
  private currentSecond = 0;
  private countInSecond = 0;

  tryAccept(message: ServerMessage, now: number = Date.now()): boolean {
    const currentSecond = Math.floor(now / 1_000);
    if (currentSecond !== this.currentSecond) {
      this.currentSecond = currentSecond;
      this.countInSecond = 0;
    }
    this.countInSecond += 1;
    const fits =
      this.countInSecond <= maxMessagesPerSecond &&
      JSON.stringify(message).length <= maxMessageLength;
    if (!fits) this.dropped += 1;
    return fits;
  }
}
