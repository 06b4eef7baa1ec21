import { ReadableStream } from "node:stream/web";
import { raceTimeout } from "@herdctl/protocol";
import type { FetchLike, Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { type BridgedServer, maxMessageBytes } from "./bridged-server.ts";
import { isRequest, jsonRpcMessageSchema } from "./json-rpc.ts";

export interface RemoteServerOptions {
  type: "http" | "sse";
  url: string;
  headers: Record<string, string>;
}

/** A remote server that the runner connects to over HTTP. */
export function createRemoteServer({ type, url, headers }: RemoteServerOptions): BridgedServer {
  const { search, password } = new URL(url);
  return {
    secrets: [...Object.values(headers), search, password],
    connect: () => connectors[type](new URL(url), { headers }),
  };
}

const connectors = { http: connectByHttp, sse: connectBySse };

/** How long a lost response may take to arrive over another connection. */
const lateAnswerTimeoutsMs = { resumable: 60_000, lost: 500 };

/**
 * Connects over streamable HTTP. A request whose response was cut off would otherwise wait forever, so
 * it fails here once the transport can no longer get the response in another way.
 */
async function connectByHttp(url: URL, requestInit: RequestInit): Promise<Transport> {
  const { StreamableHTTPClientTransport } = await import(
    "@modelcontextprotocol/sdk/client/streamableHttp.js"
  );
  const observeBody = observeFetch({
    onEnded: (request, { isResumable }) => {
      const id = requestIdOf(request);
      if (id === undefined) return;
      const error = { code: -32000, message: "the connection ended before the response arrived" };
      const failRequest = () => transport.onmessage?.({ jsonrpc: "2.0", id, error });
      setTimeout(
        failRequest,
        isResumable ? lateAnswerTimeoutsMs.resumable : lateAnswerTimeoutsMs.lost,
      ).unref();
    },
  });
  const fetch: FetchLike = async (address, init) => {
    const response = await observeBody(address, init);
    // The server no longer knows the session; a new connection initializes it again.
    if (response.status === 404 && transport.sessionId) void close();
    return response;
  };
  const transport = new StreamableHTTPClientTransport(url, { requestInit, fetch });
  const close = transport.close.bind(transport);
  transport.close = async () => {
    // Otherwise a server may keep the session forever. Do not wait long for a server that hangs.
    const terminated = transport.terminateSession().catch(() => undefined);
    await raceTimeout(terminated, 500, () => undefined, { unref: true });
    await close();
  };
  return transport;
}

/** All responses arrive in one stream, so its end closes the connection. */
async function connectBySse(url: URL, requestInit: RequestInit): Promise<Transport> {
  const { SSEClientTransport } = await import("@modelcontextprotocol/sdk/client/sse.js");
  const fetch = observeFetch({
    onEnded: (request) => {
      if (request?.method !== "POST") void transport.close();
    },
  });
  const transport = new SSEClientTransport(url, { requestInit, fetch });
  return transport;
}

function requestIdOf(request: RequestInit | undefined): string | number | undefined {
  if (request?.method !== "POST" || typeof request.body !== "string") return undefined;
  const message = jsonRpcMessageSchema.safeParse(JSON.parse(request.body));
  return message.success && isRequest(message.data) ? message.data.id : undefined;
}

interface FetchObserver {
  /** A response has ended, successfully or not. */
  onEnded(request: RequestInit | undefined, response: { isResumable: boolean }): void;
}

/** Reports the end of each response, which the transports do not, and aborts oversized messages. */
function observeFetch(observer: FetchObserver): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init);
    if (!response.body) return response;
    const { status, statusText, headers } = response;
    const isStream = headers.get("content-type")?.includes("text/event-stream") ?? false;
    const body = observeBody(response.body, isStream, init, observer);
    return new Response(ReadableStream.from(body), { status, statusText, headers });
  };
}

async function* observeBody(
  body: AsyncIterable<Uint8Array>,
  isStream: boolean,
  init: RequestInit | undefined,
  { onEnded }: FetchObserver,
): AsyncGenerator<Uint8Array> {
  let [size, isResumable] = [0, false];
  try {
    for await (const chunk of body) {
      const text = isStream ? Buffer.from(chunk).toString("latin1") : "";
      // A blank line ends an event. A stream with event ids can be resumed.
      const end = Math.max(text.lastIndexOf("\n\n"), text.lastIndexOf("\r\n\r\n"));
      size = end === -1 ? size + chunk.length : chunk.length - end;
      isResumable ||= /^id:/m.test(text);
      if (size > maxMessageBytes) throw new Error("the message is too long");
      yield chunk;
    }
  } finally {
    onEnded(init, { isResumable });
  }
}
