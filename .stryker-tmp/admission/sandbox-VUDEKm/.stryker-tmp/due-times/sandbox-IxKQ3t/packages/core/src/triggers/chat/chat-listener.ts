import type { ChatPlatformName } from "@herdctl/protocol";
import type { ChatStore } from "../../store/contracts/stores.ts";
import {
  ChatError,
  type Connector,
  type ConnectorListener,
  type IncomingMessage,
} from "./connector.ts";
import { retryChatCall, retryWhileStoreUnavailable } from "./retry-posts.ts";

export interface ChatListenerDeps {
  agent: string;
  platform: ChatPlatformName;
  connector: Connector;
  store: ChatStore;
  signal: AbortSignal;
  /** Resolves when the message is recorded. */
  receive(message: IncomingMessage): Promise<void>;
  command: ConnectorListener["onCommand"];
  press: ConnectorListener["onButtonPress"];
  /** Continues messages that an earlier fleet process left unanswered. */
  resumeOpenMessages(): Promise<void>;
  /** Called when the state or the problem has changed. */
  onStatusChanged(): void;
  reportError(message: string, cause?: unknown): void;
}

/**
 * Events may arrive slightly out of order. Messages that were seen before are recognised by their
 * id.
 */
const catchUpOverlapMs = 5 * 60_000;
const maxCatchUpMs = 24 * 3_600_000;
const maxRooms = 100;
const recordIntervalMs = 60_000;

/** Receives the messages of a connection, including those that were missed while it was closed. */
export class ChatListener {
  state: "connecting" | "connected" | "failed" = "connecting";
  problem: string | null = null;
  readonly opened: Promise<void>;
  /** New messages wait until all missed messages have been received. */
  private catchUpDone: Promise<void> = Promise.resolve();
  private recordTimer: NodeJS.Timeout | undefined;

  constructor(private readonly deps: ChatListenerDeps) {
    this.opened = this.open().catch((error) => this.fail(error));
  }

  stop(): void {
    clearInterval(this.recordTimer);
  }

  setProblem(problem: string | null): void {
    if (problem === this.problem) return;
    this.problem = problem;
    this.deps.onStatusChanged();
  }

  private async open(): Promise<void> {
    // Retries, so that a full disk does not stop the listener until the next start.
    const since = await retryWhileStoreUnavailable(() => this.catchUpStart(), this.deps.signal);
    let release: () => void = () => undefined;
    this.catchUpDone = new Promise((done) => {
      release = done;
    });
    try {
      await retryChatCall(() => this.connect(), this.deps.signal);
      this.state = "connected";
      this.setProblem(null);
      await this.deps.resumeOpenMessages();
      await this.catchUp(since);
      this.recordTimer = setInterval(
        () => void this.recordReceivedUntil(),
        recordIntervalMs,
      ).unref();
    } finally {
      release();
    }
  }

  private async connect(): Promise<void> {
    const { connector, command, press, reportError } = this.deps;
    try {
      await connector.start({
        onMessage: async (message) => {
          await this.catchUpDone;
          await this.deps.receive(message).catch((error) => {
            reportError("Failed to record a message", error);
            throw error;
          });
        },
        onCommand: command,
        onButtonPress: press,
        onProblem: (message) => this.setProblem(message ?? null),
        onReconnected: () => void this.catchUpAfterReconnect(),
      });
    } catch (error) {
      this.setProblem(errorText(error));
      throw error;
    }
  }

  private async catchUpAfterReconnect(): Promise<void> {
    await this.catchUpDone;
    await this.catchUp(await this.catchUpStart());
  }

  private async catchUpStart(): Promise<Date> {
    const { agent, platform, store } = this.deps;
    const receivedUntil = await store.getReceivedUntil(agent, platform);
    return new Date(
      Math.max(receivedUntil.getTime() - catchUpOverlapMs, Date.now() - maxCatchUpMs),
    );
  }

  /** Users who are allowed later must not get answers to their old messages. */
  private async recordReceivedUntil(): Promise<void> {
    const { agent, platform, store, signal } = this.deps;
    if (this.problem !== null || signal.aborted) return;
    await store.setReceivedUntil(agent, platform, new Date()).catch(() => undefined);
  }

  private async catchUp(since: Date): Promise<void> {
    const { connector, agent, platform, store, receive, reportError } = this.deps;
    const rooms = (await store.listConversations())
      .filter((conversation) => conversation.agent === agent && conversation.platform === platform)
      .slice(0, maxRooms)
      .map(({ room }) => room);
    const missed = await connector.readMissed(since, rooms).catch((error): IncomingMessage[] => {
      reportError("Failed to read missed messages", error);
      return [];
    });
    for (const message of missed) await receive(message);
  }

  private fail(error: unknown): void {
    if (this.deps.signal.aborted) return;
    this.state = "failed";
    this.problem = errorText(error);
    this.deps.onStatusChanged();
    this.deps.reportError("Failed to connect to the platform", error);
  }
}

export function errorText(error: unknown): string {
  if (error instanceof ChatError) return `${error.message} ${error.hint}`.trim();
  return error instanceof Error ? error.message : String(error);
}
