import { randomUUID } from "node:crypto";
import type { Server } from "node:http";
import { type WebSocket, WebSocketServer } from "ws";

interface Sent {
  envelope_id: string;
  type: string;
  payload: unknown;
  attempt: number;
  timer?: NodeJS.Timeout;
}

/** Slack's end of socket mode: an envelope that is not acknowledged in time is sent again. */
export class Socket {
  acknowledged = 0;
  resent = 0;
  private readonly server: WebSocketServer;
  private readonly open = new Map<string, Sent>();
  private readonly pings: NodeJS.Timeout;

  constructor(
    http: Server,
    private readonly options: { ackDeadline: number; pingEvery: number },
  ) {
    this.server = new WebSocketServer({ server: http, path: "/socket" });
    this.server.on("connection", (socket) => this.greet(socket));
    this.pings = setInterval(() => {
      for (const socket of this.server.clients) socket.ping();
    }, options.pingEvery).unref();
  }

  /** To one of the app's connections, as Slack does. */
  send(type: string, payload: unknown): void {
    const sent: Sent = { envelope_id: randomUUID(), type, payload, attempt: 0 };
    this.open.set(sent.envelope_id, sent);
    this.deliver(sent);
  }

  get connected(): number {
    return [...this.server.clients].filter(({ readyState }) => readyState === 1).length;
  }

  drop(): void {
    for (const socket of this.server.clients) socket.terminate();
  }

  close(): void {
    clearInterval(this.pings);
    for (const { timer } of this.open.values()) clearTimeout(timer);
    this.drop();
    this.server.close();
  }

  private greet(socket: WebSocket): void {
    socket.on("error", () => undefined);
    socket.on("message", (data) => {
      const { envelope_id } = JSON.parse(String(data)) as { envelope_id: string };
      clearTimeout(this.open.get(envelope_id)?.timer);
      if (this.open.delete(envelope_id)) this.acknowledged += 1;
    });
    socket.send(JSON.stringify({ type: "hello", num_connections: this.connected, debug_info: {} }));
    for (const sent of this.open.values()) this.deliver(sent);
  }

  private deliver(sent: Sent): void {
    clearTimeout(sent.timer);
    const sockets = [...this.server.clients].filter(({ readyState }) => readyState === 1);
    const socket = sockets[Math.floor(Math.random() * sockets.length)];
    if (!socket) return;
    const { envelope_id, type, payload, attempt } = sent;
    const retry = attempt === 0 ? {} : { retry_attempt: attempt, retry_reason: "timeout" };
    const accepts_response_payload = type !== "events_api";
    socket.send(JSON.stringify({ envelope_id, type, payload, accepts_response_payload, ...retry }));
    this.resent += attempt > 0 ? 1 : 0;
    sent.attempt += 1;
    sent.timer = setTimeout(() => this.deliver(sent), this.options.ackDeadline).unref();
  }
}
