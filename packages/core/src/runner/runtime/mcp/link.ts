import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type {
  JSONRPCMessage,
  JSONRPCNotification,
  JSONRPCRequest,
  JSONRPCResponse,
  RequestId,
} from "@modelcontextprotocol/sdk/types.js";
import { isRequest, isResponse } from "./json-rpc.ts";

/** What a server says of its own accord. */
export type ServerWord = JSONRPCRequest | JSONRPCNotification;

interface OpenRequest {
  askedAs: RequestId;
  answer(response: JSONRPCResponse): void;
  fail(error: Error): void;
}

/**
 * One open connection to a server. Requests get numbers of our own, because an older claude talks
 * to one server as two clients that both count from zero.
 */
export class Link {
  /** Why it is no longer open. */
  ended: string | undefined;
  private readonly open = new Map<RequestId, OpenRequest>();
  private readonly askedByServer = new Set<RequestId>();
  private lastNumber = 0;
  private trouble: string | undefined;
  private closing: Promise<void> | undefined;

  constructor(
    private readonly transport: Transport,
    private readonly handlers: { onWord(word: ServerWord): void; onEnd(reason: string): void },
  ) {}

  async start(): Promise<void> {
    this.transport.onmessage = (message) => this.receive(message);
    this.transport.onclose = () => this.end();
    this.transport.onerror = (error) => {
      this.trouble ??= error.message.slice(0, 200);
    };
    await this.transport.start();
  }

  request(request: JSONRPCRequest): Promise<JSONRPCResponse> {
    if (this.ended !== undefined) return Promise.reject(new Error(this.ended));
    this.lastNumber += 1;
    const number = this.lastNumber;
    return new Promise<JSONRPCResponse>((resolve, reject) => {
      const answer = (response: JSONRPCResponse) => resolve({ ...response, id: request.id });
      this.open.set(number, { askedAs: request.id, answer, fail: reject });
      this.transport.send({ ...request, id: number }).catch((error: Error) => {
        this.open.delete(number);
        reject(error);
      });
    });
  }

  /** A notification, or an answer to what the server asked. */
  tell(message: JSONRPCNotification | JSONRPCResponse): void {
    if (isResponse(message)) {
      if (message.id !== undefined && this.askedByServer.delete(message.id)) this.send(message);
    } else if (message.method === "notifications/cancelled") this.cancel(message);
    else this.send(message);
  }

  /** What the HTTP transport must say from now on; others need not know. */
  speak(protocolVersion: string): void {
    this.transport.setProtocolVersion?.(protocolVersion);
  }

  close(): Promise<void> {
    this.closing ??= this.shut();
    return this.closing;
  }

  /** Takes a request back. A server need not answer it any more, so we do. */
  private cancel(notification: JSONRPCNotification): void {
    const asked = notification.params?.requestId;
    const [number, request] = [...this.open].findLast(([, { askedAs }]) => askedAs === asked) ?? [];
    if (number === undefined || request === undefined) return;
    this.open.delete(number);
    this.send({ ...notification, params: { ...notification.params, requestId: number } });
    request.fail(new Error("the request was cancelled"));
  }

  private async shut(): Promise<void> {
    this.ended ??= "the run is over";
    this.failAll();
    await this.transport.close().catch(() => undefined);
  }

  private receive(message: JSONRPCMessage): void {
    this.trouble = undefined;
    if (!isResponse(message)) {
      if (isRequest(message)) this.askedByServer.add(message.id);
      this.handlers.onWord(message);
      return;
    }
    const request = message.id === undefined ? undefined : this.open.get(message.id);
    if (message.id === undefined || request === undefined) return;
    this.open.delete(message.id);
    request.answer(message);
  }

  private end(): void {
    if (this.ended !== undefined) return;
    this.ended = this.trouble === undefined ? "it ended" : `it ended (${this.trouble})`;
    this.handlers.onEnd(this.ended);
    this.failAll();
  }

  private failAll(): void {
    const error = new Error(this.ended);
    for (const { fail } of this.open.values()) fail(error);
    this.open.clear();
  }

  private send(message: JSONRPCMessage): void {
    // A server that is gone is noticed by its end.
    this.transport.send(message).catch(() => undefined);
  }
}
