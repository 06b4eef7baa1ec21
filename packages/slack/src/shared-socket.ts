import { SocketModeClient } from "@slack/socket-mode";
import { silentLogger } from "./silent-logger.ts";

export interface Envelope {
  type: string;
  body: Record<string, unknown>;
}

export interface SocketListener {
  /** Resolves when it is durable. */
  envelope(envelope: Envelope): Promise<void>;
  connected(): void;
  down(): void;
}

/**
 * One socket for each app. Slack hands each event to one connection of an app only, so agents that
 * share an app share its connection: each hears everything, and an envelope is acknowledged when
 * all of them have what they want of it.
 */
export class SharedSocket {
  private static readonly open = new Map<string, SharedSocket>();
  private readonly listeners = new Set<SocketListener>();
  private readonly joining = new Set<SocketListener>();
  private readonly client: SocketModeClient;
  private starting: Promise<unknown> | undefined;

  static of(appToken: string, slackApiUrl: string): SharedSocket {
    const key = JSON.stringify([appToken, slackApiUrl]);
    const known = SharedSocket.open.get(key) ?? new SharedSocket(key, appToken, slackApiUrl);
    SharedSocket.open.set(key, known);
    return known;
  }

  private constructor(
    private readonly key: string,
    appToken: string,
    slackApiUrl: string,
  ) {
    this.client = new SocketModeClient({
      appToken,
      logger: silentLogger,
      // It is also the pause before a lost connection is made anew.
      clientPingTimeout: 2_000,
      clientOptions: { slackApiUrl, retryConfig: { retries: 2 } },
    });
    this.client.on("slack_event", (event) => void this.hear(event).catch(() => undefined));
    this.client.on("connected", () => this.tell("connected"));
    this.client.on("close", () => this.tell("down"));
  }

  /** Whether several agents hear what comes. */
  get isShared(): boolean {
    return this.listeners.size > 1;
  }

  async join(listener: SocketListener): Promise<void> {
    this.joining.add(listener);
    this.starting ??= this.client.start();
    try {
      await this.starting;
    } catch (error) {
      SharedSocket.open.delete(this.key);
      throw error;
    } finally {
      this.joining.delete(listener);
    }
    this.listeners.add(listener);
  }

  async leave(listener: SocketListener): Promise<void> {
    this.listeners.delete(listener);
    this.joining.delete(listener);
    if (this.listeners.size + this.joining.size > 0 || SharedSocket.open.get(this.key) !== this)
      return;
    SharedSocket.open.delete(this.key);
    await this.client.disconnect();
  }

  private tell(what: "connected" | "down"): void {
    for (const listener of this.listeners) listener[what]();
  }

  private async hear(event: Envelope & { ack: (answer?: object) => Promise<void> }): Promise<void> {
    const { type, body } = event;
    await Promise.all([...this.listeners].map((listener) => listener.envelope({ type, body })));
    await event.ack();
  }
}
