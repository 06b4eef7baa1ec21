import type { Platform } from "../state/chat.ts";
import type { ChatStore } from "../state/contract.ts";
import {
  ChatError,
  type Connector,
  type ConnectorListener,
  type IncomingMessage,
} from "./connector.ts";
import { persevere, untilKept } from "./persevere.ts";

export interface ListeningParts {
  agent: string;
  platform: Platform;
  connector: Connector;
  store: ChatStore;
  signal: AbortSignal;
  /** Resolves when the message is on record. */
  take(message: IncomingMessage): Promise<void>;
  command: ConnectorListener["command"];
  press: ConnectorListener["press"];
  /** What an earlier fleet left is taken up again. */
  goOn(): Promise<void>;
  /** State or problem are others now. */
  changed(): void;
  trouble(message: string, cause?: unknown): void;
}

/** Events may overtake each other a little; what was seen already is known by its id. */
const margin = 5 * 60_000;
const longestAway = 24 * 3_600_000;
const mostRooms = 100;
const noteEvery = 60_000;

/** The ear of a link: hears what is said, and what was said while nobody listened. */
export class Listening {
  state: "connecting" | "connected" | "failed" = "connecting";
  problem: string | null = null;
  readonly opening: Promise<void>;
  /** What comes before all that was missed has been taken waits for it. */
  private caughtUp: Promise<void> = Promise.resolve();
  private noting: NodeJS.Timeout | undefined;

  constructor(private readonly parts: ListeningParts) {
    this.opening = this.open().catch((error) => this.fail(error));
  }

  stop(): void {
    clearInterval(this.noting);
  }

  say(problem: string | null): void {
    if (problem === this.problem) return;
    this.problem = problem;
    this.parts.changed();
  }

  private async open(): Promise<void> {
    // A disk that is full just now must not leave it deaf until the next start.
    const since = await untilKept(() => this.heardUntil(), this.parts.signal);
    let release: () => void = () => undefined;
    this.caughtUp = new Promise((done) => {
      release = done;
    });
    try {
      await persevere(() => this.connect(), this.parts.signal);
      this.state = "connected";
      this.say(null);
      await this.parts.goOn();
      await this.catchUp(since);
      this.noting = setInterval(() => void this.note(), noteEvery).unref();
    } finally {
      release();
    }
  }

  private async connect(): Promise<void> {
    const { connector, command, press, trouble } = this.parts;
    try {
      await connector.start({
        message: async (message) => {
          await this.caughtUp;
          await this.parts.take(message).catch((error) => {
            trouble("a message could not be put on record", error);
            throw error;
          });
        },
        command,
        press,
        problem: (message) => this.say(message ?? null),
        reconnected: () => void this.lookBack(),
      });
    } catch (error) {
      this.say(wordsOf(error));
      throw error;
    }
  }

  private async lookBack(): Promise<void> {
    await this.caughtUp;
    await this.catchUp(await this.heardUntil());
  }

  private async heardUntil(): Promise<Date> {
    const { agent, platform, store } = this.parts;
    const heard = await store.heardUntil(agent, platform);
    return new Date(Math.max(heard.getTime() - margin, Date.now() - longestAway));
  }

  /** So that whoever is listed later is not answered what they said long before. */
  private async note(): Promise<void> {
    const { agent, platform, store, signal } = this.parts;
    if (this.problem !== null || signal.aborted) return;
    await store.heard(agent, platform, new Date()).catch(() => undefined);
  }

  private async catchUp(since: Date): Promise<void> {
    const { connector, agent, platform, store, take, trouble } = this.parts;
    const rooms = (await store.conversations())
      .filter((one) => one.agent === agent && one.platform === platform)
      .slice(0, mostRooms)
      .map(({ room }) => room);
    const missed = await connector.missed(since, rooms).catch((error): IncomingMessage[] => {
      trouble("what was said meanwhile could not be read", error);
      return [];
    });
    for (const message of missed) await take(message);
  }

  private fail(error: unknown): void {
    if (this.parts.signal.aborted) return;
    this.state = "failed";
    this.problem = wordsOf(error);
    this.parts.changed();
    this.parts.trouble("it cannot be there", error);
  }
}

export function wordsOf(error: unknown): string {
  if (error instanceof ChatError) return `${error.message} ${error.hint}`.trim();
  return error instanceof Error ? error.message : String(error);
}
