import type { FetchLike, Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { BridgedServer } from "./bridged-server.ts";
import { isRequest, jsonRpcMessage } from "./json-rpc.ts";
import { watchedFetch } from "./watched-fetch.ts";

export interface ServerAddress {
  type: "http" | "sse";
  url: string;
  headers: Record<string, string>;
}

/** A server elsewhere, reached from here by HTTP. */
export function remoteServer({ type, url, headers }: ServerAddress): BridgedServer {
  const { search, password } = new URL(url);
  return {
    secrets: [...Object.values(headers), search, password],
    connect: () => connections[type](new URL(url), { headers }),
  };
}

const connections = { http: connectByHttp, sse: connectBySse };

/** How long a lost answer may take to come by another connection, in milliseconds. */
const secondChance = { resumable: 60_000, lost: 500 };

/**
 * A request whose answer broke off would be waited for without end. It is answered here, once the
 * transport can no longer get the answer in another way.
 */
async function connectByHttp(url: URL, requestInit: RequestInit): Promise<Transport> {
  const { StreamableHTTPClientTransport } = await import(
    "@modelcontextprotocol/sdk/client/streamableHttp.js"
  );
  const watched = watchedFetch({
    ended: (request, { isResumable }) => {
      const id = requestIdOf(request);
      if (id === undefined) return;
      const error = { code: -32000, message: "the connection ended before the answer came" };
      const giveUp = () => transport.onmessage?.({ jsonrpc: "2.0", id, error });
      setTimeout(giveUp, isResumable ? secondChance.resumable : secondChance.lost).unref();
    },
  });
  const fetch: FetchLike = async (address, init) => {
    const response = await watched(address, init);
    // It has forgotten us, and a new connection introduces us again.
    if (response.status === 404 && transport.sessionId) void close();
    return response;
  };
  const transport = new StreamableHTTPClientTransport(url, { requestInit, fetch });
  const close = transport.close.bind(transport);
  transport.close = async () => {
    // A server may keep the session for ever unless it is told; one that hangs is not waited for.
    await Promise.race([transport.terminateSession().catch(() => undefined), farewell()]);
    await close();
  };
  return transport;
}

/** All answers come by one stream: when that has ended, so has the server for us. */
async function connectBySse(url: URL, requestInit: RequestInit): Promise<Transport> {
  const { SSEClientTransport } = await import("@modelcontextprotocol/sdk/client/sse.js");
  const fetch = watchedFetch({
    ended: (request) => {
      if (request?.method !== "POST") void transport.close();
    },
  });
  const transport = new SSEClientTransport(url, { requestInit, fetch });
  return transport;
}

function requestIdOf(request: RequestInit | undefined): string | number | undefined {
  if (request?.method !== "POST" || typeof request.body !== "string") return undefined;
  const message = jsonRpcMessage.safeParse(JSON.parse(request.body));
  return message.success && isRequest(message.data) ? message.data.id : undefined;
}

function farewell(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 500).unref());
}
