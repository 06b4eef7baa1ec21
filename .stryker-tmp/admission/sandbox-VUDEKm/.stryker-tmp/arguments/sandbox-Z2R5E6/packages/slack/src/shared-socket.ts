import { SocketModeClient } from "@slack/socket-mode";
import { silentLogger } from "./silent-logger.ts";

export interface Envelope {
  type: string;
  body: Record<string, unknown>;
}

export interface SocketListener {
  /** Resolves when the content is stored durably. */
  onEnvelope(envelope: Envelope): Promise<void>;
  connected(): void;
  down(): void;
}

/**
 * One socket per app. Slack sends each event to only one connection of an app, so agents with the same
 * app share a connection. Every agent receives every envelope, and an envelope is acknowledged when
 * all agents have processed it.
 */
export class SharedSocket {
  private static readonly openSockets = new Map<string, SharedSocket>();
  private readonly listeners = new Set<SocketListener>();
  private readonly joiningListeners = new Set<SocketListener>();
  private readonly client: SocketModeClient;
  private startTask: Promise<unknown> | undefined;

  static getOrCreate(appToken: string, slackApiUrl: string): SharedSocket {
    const key = JSON.stringify([appToken, slackApiUrl]);
    const socket =
      SharedSocket.openSockets.get(key) ?? new SharedSocket(key, appToken, slackApiUrl);
    SharedSocket.openSockets.set(key, socket);
    return socket;
  }

  private constructor(
    private readonly key: string,
    appToken: string,
    slackApiUrl: string,
  ) {
    this.client = new SocketModeClient({
      appToken,
      logger: silentLogger,
      // This is also the delay before a lost connection is opened again.
      clientPingTimeout: 2_000,
      clientOptions: { slackApiUrl, retryConfig: { retries: 2 } },
    });
    this.client.on("slack_event", (event) => void this.onSlackEvent(event).catch(() => undefined));
    this.client.on("connected", () => this.notifyListeners("connected"));
    this.client.on("close", () => this.notifyListeners("down"));
  }

  /** Whether several agents use the socket. */
  get isShared(): boolean {
    return this.listeners.size > 1;
  }

  async join(listener: SocketListener): Promise<void> {
    this.joiningListeners.add(listener);
    this.startTask ??= this.client.start();
    try {
      await this.startTask;
    } catch (error) {
      SharedSocket.openSockets.delete(this.key);
      throw error;
    } finally {
      this.joiningListeners.delete(listener);
    }
    this.listeners.add(listener);
  }

  async leave(listener: SocketListener): Promise<void> {
    this.listeners.delete(listener);
    this.joiningListeners.delete(listener);
    if (
      this.listeners.size + this.joiningListeners.size > 0 ||
      SharedSocket.openSockets.get(this.key) !== this
    )
      return;
    SharedSocket.openSockets.delete(this.key);
    await this.client.disconnect();
  }

  private notifyListeners(event: "connected" | "down"): void {
    for (const listener of this.listeners) listener[event]();
  }

  private async onSlackEvent(
    event: Envelope & { ack: (response?: object) => Promise<void> },
  ): Promise<void> {
    const { type, body } = event;
    await Promise.all([...this.listeners].map((listener) => listener.onEnvelope({ type, body })));
    await event.ack();
  }
}
