import { errorCode } from "@herdctl/protocol";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type {
  JSONRPCMessage,
  JSONRPCNotification,
  JSONRPCRequest,
  JSONRPCResponse,
  RequestId,
} from "@modelcontextprotocol/sdk/types.js";
import { isRequest, isResponse } from "./json-rpc.ts";

/** An unsolicited message of a server. */
export type ServerMessage = JSONRPCRequest | JSONRPCNotification;

interface PendingRequest {
  originalId: RequestId;
  answer(response: JSONRPCResponse): void;
  fail(error: Error): void;
}

/**
 * One open connection to a server. Requests get new ids, because an older claude acts as two clients
 * of one server that both count from zero.
 */
export class ServerConnection {
  /** Why the connection is no longer open. */
  endReason: string | undefined;
  private readonly pendingRequests = new Map<RequestId, PendingRequest>();
  private readonly openServerRequests = new Set<RequestId>();
  private lastRequestId = 0;
  private lastError: string | undefined;
  private closing: Promise<void> | undefined;

  constructor(
    private readonly transport: Transport,
    private readonly handlers: {
      onMessage(message: ServerMessage): void;
      onEnd(reason: string): void;
    },
  ) {}

  async start(): Promise<void> {
    this.transport.onmessage = (message) => this.receive(message);
    this.transport.onclose = () => this.handleEnd();
    this.transport.onerror = (error) => {
      this.lastError ??= error.message.slice(0, 200);
    };
    await this.transport.start();
  }

  request(request: JSONRPCRequest): Promise<JSONRPCResponse> {
    if (this.endReason !== undefined) return Promise.reject(new Error(this.endReason));
    this.lastRequestId += 1;
    const id = this.lastRequestId;
    return new Promise<JSONRPCResponse>((resolve, reject) => {
      const answer = (response: JSONRPCResponse) => resolve({ ...response, id: request.id });
      this.pendingRequests.set(id, { originalId: request.id, answer, fail: reject });
      this.transport.send({ ...request, id }).catch((error: Error) => {
        this.pendingRequests.delete(id);
        reject(error);
      });
    });
  }

  /** Sends a notification, or a response to a request of the server. */
  notify(message: JSONRPCNotification | JSONRPCResponse): void {
    if (isResponse(message)) {
      if (message.id !== undefined && this.openServerRequests.delete(message.id))
        this.send(message);
    } else if (message.method === "notifications/cancelled") this.cancel(message);
    else this.send(message);
  }

  /** Sets the version that the HTTP transport sends; other transports do not need it. */
  setProtocolVersion(protocolVersion: string): void {
    this.transport.setProtocolVersion?.(protocolVersion);
  }

  close(): Promise<void> {
    this.closing ??= this.shutDown();
    return this.closing;
  }

  /** Cancels a request and fails it here, because the server no longer has to respond. */
  private cancel(notification: JSONRPCNotification): void {
    const cancelledId = notification.params?.requestId;
    const [requestId, request] =
      [...this.pendingRequests].findLast(([, { originalId }]) => originalId === cancelledId) ?? [];
    if (requestId === undefined || request === undefined) return;
    this.pendingRequests.delete(requestId);
    this.send({ ...notification, params: { ...notification.params, requestId } });
    request.fail(new Error("the request was cancelled"));
  }

  private async shutDown(): Promise<void> {
    this.endReason ??= "the run is over";
    this.failAll();
    await this.transport.close().catch(() => undefined);
  }

  private receive(message: JSONRPCMessage): void {
    this.lastError = undefined;
    if (!isResponse(message)) {
      if (isRequest(message)) this.openServerRequests.add(message.id);
      this.handlers.onMessage(message);
      return;
    }
    const request = message.id === undefined ? undefined : this.pendingRequests.get(message.id);
    if (message.id === undefined || request === undefined) return;
    this.pendingRequests.delete(message.id);
    request.answer(message);
  }

  private handleEnd(): void {
    if (this.endReason !== undefined) return;
    this.endReason = this.lastError === undefined ? "it ended" : `it ended (${this.lastError})`;
    this.handlers.onEnd(this.endReason);
    this.failAll();
  }

  private failAll(): void {
    const error = new Error(this.endReason);
    for (const { fail } of this.pendingRequests.values()) fail(error);
    this.pendingRequests.clear();
  }

  private send(message: JSONRPCMessage): void {
    // A lost server is detected by the end of the connection.
    this.transport.send(message).catch(() => undefined);
  }
}

/** The error message with its cause, because `fetch failed` alone says nothing. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  return `${error.message}: ${errorCode(cause) ?? cause.message}`;
}
