import { randomUUID } from "node:crypto";
import type { Server } from "node:http";
import { type WebSocket, WebSocketServer } from "ws";
import { guildObject, userObject } from "./objects.ts";
import type { World } from "./world.ts";

interface Session {
  id: string;
  socket: WebSocket | undefined;
  sent: { s: number; t: string; d: unknown }[];
}

interface Frame {
  op: number;
  d?: { token?: string; intents?: number; session_id?: string; seq?: number; status?: string };
}

export interface GatewayOptions {
  token: string;
  /** Milliseconds between heartbeats. */
  heartbeat: number;
  /** Intents that the application was not given. */
  withheldIntents: number;
}

/** Discord's gateway: heartbeats, identify and resume, and events in their order. */
export class Gateway {
  readonly presences: string[] = [];
  identifies = 0;
  resumes = 0;
  heartbeats = 0;
  private readonly sessions = new Map<string, Session>();
  private readonly server: WebSocketServer;

  constructor(
    private readonly world: World,
    http: Server,
    private readonly options: GatewayOptions,
    private readonly url: () => string,
  ) {
    this.server = new WebSocketServer({ server: http, path: "/gateway" });
    this.server.on("connection", (socket) => this.greet(socket));
  }

  /** Tells every session; one that is cut off hears it when it resumes. */
  dispatch(t: string, d: unknown): void {
    for (const session of this.sessions.values()) this.send(session, t, d);
  }

  /** Cuts every connection, as a network does; sessions can be resumed. */
  drop(): void {
    for (const socket of this.server.clients) socket.terminate();
  }

  /** No session can be resumed any more. */
  forget(): void {
    this.sessions.clear();
  }

  get connected(): number {
    return this.server.clients.size;
  }

  close(): void {
    this.drop();
    this.server.close();
  }

  private greet(socket: WebSocket): void {
    socket.on("error", () => undefined);
    socket.on("message", (data) => this.hear(socket, JSON.parse(String(data))));
    say(socket, 10, { heartbeat_interval: this.options.heartbeat });
  }

  private hear(socket: WebSocket, { op, d }: Frame): void {
    if (op === 1) {
      this.heartbeats += 1;
      say(socket, 11, null);
    }
    if (op === 2) this.identify(socket, d ?? {});
    if (op === 3) this.presences.push(d?.status ?? "");
    if (op === 6) this.resume(socket, d ?? {});
  }

  private identify(socket: WebSocket, { token, intents = 0 }: NonNullable<Frame["d"]>): void {
    this.identifies += 1;
    if (token !== this.options.token) return void socket.close(4004, "Authentication failed.");
    const isDenied = (intents & this.options.withheldIntents) !== 0;
    if (isDenied) return void socket.close(4014, "Disallowed intent(s).");
    const session: Session = { id: randomUUID(), socket, sent: [] };
    this.sessions.set(session.id, session);
    const { guild, bot, application } = this.world;
    this.send(session, "READY", {
      v: 10,
      user: userObject(bot),
      guilds: [{ id: guild.id, unavailable: true }],
      session_id: session.id,
      resume_gateway_url: this.url(),
      application: { id: application, flags: 0 },
    });
    this.send(session, "GUILD_CREATE", guildObject(this.world));
  }

  private resume(socket: WebSocket, { session_id = "", seq = 0 }: NonNullable<Frame["d"]>): void {
    const session = this.sessions.get(session_id);
    if (!session) return void say(socket, 9, false);
    this.resumes += 1;
    session.socket = socket;
    for (const { s, t, d } of session.sent.filter((event) => event.s > seq))
      say(socket, 0, d, s, t);
    this.send(session, "RESUMED", {});
  }

  private send(session: Session, t: string, d: unknown): void {
    const s = session.sent.length + 1;
    session.sent.push({ s, t, d });
    if (session.socket?.readyState === 1) say(session.socket, 0, d, s, t);
  }
}

function say(socket: WebSocket, op: number, d: unknown, s: number | null = null, t?: string): void {
  socket.send(JSON.stringify({ op, d, s, t: t ?? null }));
}
