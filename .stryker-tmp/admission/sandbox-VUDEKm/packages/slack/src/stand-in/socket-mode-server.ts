import { randomUUID } from "node:crypto";
import type { Server } from "node:http";
import { type WebSocket, WebSocketServer } from "ws";

interface PendingEnvelope {
  envelope_id: string;
  type: string;
  payload: unknown;
  attempt: number;
  timer?: NodeJS.Timeout;
}

/** The server side of socket mode. Envelopes that are not acknowledged in time are sent again. */
export class SocketModeServer {
  acknowledgedCount = 0;
  resentCount = 0;
  private readonly server: WebSocketServer;
  private readonly pendingEnvelopes = new Map<string, PendingEnvelope>();
  private readonly pingTimer: NodeJS.Timeout;

  constructor(
    http: Server,
    private readonly options: { ackTimeoutMs: number; pingIntervalMs: number },
  ) {
    this.server = new WebSocketServer({ server: http, path: "/socket" });
    this.server.on("connection", (socket) => this.onConnection(socket));
    this.pingTimer = setInterval(() => {
      for (const socket of this.server.clients) socket.ping();
    }, options.pingIntervalMs).unref();
  }

  /** Sends an envelope to one of the app's connections, like Slack. */
  send(type: string, payload: unknown): void {
    const envelope: PendingEnvelope = { envelope_id: randomUUID(), type, payload, attempt: 0 };
    this.pendingEnvelopes.set(envelope.envelope_id, envelope);
    this.deliver(envelope);
  }

  get connectionCount(): number {
    return [...this.server.clients].filter(({ readyState }) => readyState === 1).length;
  }

  disconnectAll(): void {
    for (const socket of this.server.clients) socket.terminate();
  }

  close(): void {
    clearInterval(this.pingTimer);
    for (const { timer } of this.pendingEnvelopes.values()) clearTimeout(timer);
    this.disconnectAll();
    this.server.close();
  }

  private onConnection(socket: WebSocket): void {
    socket.on("error", () => undefined);
    socket.on("message", (data) => {
      const { envelope_id } = JSON.parse(String(data)) as { envelope_id: string };
      clearTimeout(this.pendingEnvelopes.get(envelope_id)?.timer);
      if (this.pendingEnvelopes.delete(envelope_id)) this.acknowledgedCount += 1;
    });
    socket.send(
      JSON.stringify({ type: "hello", num_connections: this.connectionCount, debug_info: {} }),
    );
    for (const envelope of this.pendingEnvelopes.values()) this.deliver(envelope);
  }

  private deliver(envelope: PendingEnvelope): void {
    clearTimeout(envelope.timer);
    const sockets = [...this.server.clients].filter(({ readyState }) => readyState === 1);
    const socket = sockets[Math.floor(Math.random() * sockets.length)];
    if (!socket) return;
    const { envelope_id, type, payload, attempt } = envelope;
    const retry = attempt === 0 ? {} : { retry_attempt: attempt, retry_reason: "timeout" };
    const accepts_response_payload = type !== "events_api";
    socket.send(JSON.stringify({ envelope_id, type, payload, accepts_response_payload, ...retry }));
    this.resentCount += attempt > 0 ? 1 : 0;
    envelope.attempt += 1;
    envelope.timer = setTimeout(() => this.deliver(envelope), this.options.ackTimeoutMs).unref();
  }
}
