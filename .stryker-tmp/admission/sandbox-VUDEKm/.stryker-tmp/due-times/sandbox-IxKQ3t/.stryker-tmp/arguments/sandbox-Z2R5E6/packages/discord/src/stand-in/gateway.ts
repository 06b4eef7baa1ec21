import { randomUUID } from "node:crypto";
import type { Server } from "node:http";
import { type WebSocket, WebSocketServer } from "ws";
import { toGuildObject, toUserObject } from "./api-objects.ts";
import type { DiscordState } from "./discord-state.ts";

interface Session {
  id: string;
  socket: WebSocket | undefined;
  sent: { s: number; t: string; d: unknown }[];
}

interface GatewayPayload {
  op: number;
  d?: { token?: string; intents?: number; session_id?: string; seq?: number; status?: string };
}

export interface GatewayOptions {
  token: string;
  /** Interval of heartbeats, sent to the client. */
  heartbeatIntervalMs: number;
  /** Bit mask of the intents that the application lacks. */
  deniedIntents: number;
}

/** Discord's gateway: heartbeats, identify, resume, and ordered events. */
export class GatewayServer {
  readonly presences: string[] = [];
  identifies = 0;
  resumes = 0;
  heartbeats = 0;
  private readonly sessions = new Map<string, Session>();
  private readonly server: WebSocketServer;

  constructor(
    private readonly world: DiscordState,
    httpServer: Server,
    private readonly options: GatewayOptions,
    private readonly url: () => string,
  ) {
    this.server = new WebSocketServer({ server: httpServer, path: "/gateway" });
    this.server.on("connection", (socket) => this.onConnection(socket));
  }

  /** Sends an event to every session. Disconnected sessions receive it when they resume. */
  dispatch(t: string, d: unknown): void {
    for (const session of this.sessions.values()) this.send(session, t, d);
  }

  /** Drops every connection, like a network failure. Sessions can be resumed. */
  disconnectAll(): void {
    for (const socket of this.server.clients) socket.terminate();
  }

  /** Removes all sessions, so that none can be resumed. */
  invalidateSessions(): void {
    this.sessions.clear();
  }

  get connectionCount(): number {
    return this.server.clients.size;
  }

  close(): void {
    this.disconnectAll();
    this.server.close();
  }

  private onConnection(socket: WebSocket): void {
    socket.on("error", () => undefined);
    socket.on("message", (data) => this.onPayload(socket, JSON.parse(String(data))));
    sendPayload(socket, 10, { heartbeat_interval: this.options.heartbeatIntervalMs });
  }

  private onPayload(socket: WebSocket, { op, d }: GatewayPayload): void {
    if (op === 1) {
      this.heartbeats += 1;
      sendPayload(socket, 11, null);
    }
    if (op === 2) this.identify(socket, d ?? {});
    if (op === 3) this.presences.push(d?.status ?? "");
    if (op === 6) this.resume(socket, d ?? {});
  }

  private identify(
    socket: WebSocket,
    { token, intents = 0 }: NonNullable<GatewayPayload["d"]>,
  ): void {
    this.identifies += 1;
    if (token !== this.options.token) return void socket.close(4004, "Authentication failed.");
    const isDenied = (intents & this.options.deniedIntents) !== 0;
    if (isDenied) return void socket.close(4014, "Disallowed intent(s).");
    const session: Session = { id: randomUUID(), socket, sent: [] };
    this.sessions.set(session.id, session);
    const { guild, bot, application } = this.world;
    this.send(session, "READY", {
      v: 10,
      user: toUserObject(bot),
      guilds: [{ id: guild.id, unavailable: true }],
      session_id: session.id,
      resume_gateway_url: this.url(),
      application: { id: application, flags: 0 },
    });
    this.send(session, "GUILD_CREATE", toGuildObject(this.world));
  }

  private resume(
    socket: WebSocket,
    { session_id = "", seq = 0 }: NonNullable<GatewayPayload["d"]>,
  ): void {
    const session = this.sessions.get(session_id);
    if (!session) return void sendPayload(socket, 9, false);
    this.resumes += 1;
    session.socket = socket;
    for (const { s, t, d } of session.sent.filter((event) => event.s > seq))
      sendPayload(socket, 0, d, s, t);
    this.send(session, "RESUMED", {});
  }

  private send(session: Session, t: string, d: unknown): void {
    const s = session.sent.length + 1;
    session.sent.push({ s, t, d });
    if (session.socket?.readyState === 1) sendPayload(session.socket, 0, d, s, t);
  }
}

function sendPayload(
  socket: WebSocket,
  op: number,
  d: unknown,
  s: number | null = null,
  t?: string,
): void {
  socket.send(JSON.stringify({ op, d, s, t: t ?? null }));
}
