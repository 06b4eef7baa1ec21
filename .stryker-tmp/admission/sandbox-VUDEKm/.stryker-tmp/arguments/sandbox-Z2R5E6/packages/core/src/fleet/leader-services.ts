import { Mutex } from "@herdctl/protocol";
/**
 * Services that one node runs for all: hooks, work sources, chats, retention, gates of schedules.
 */
export interface LeaderServices {
  /** Takes over from an earlier leader. */
  open(): Promise<void>;
  /** Checks the records from time to time, because events of other nodes can get lost. */
  poll(): void;
  close(): Promise<void>;
}

const pollIntervalMs = 15_000;
const retryDelayMs = 2_000;

/** Starts and stops leader services one after the other, however quickly leadership changes. */
export class Leadership {
  private readonly transitions = new Mutex();
  private isOpen = false;
  private shouldBeOpen = false;
  private stopped = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly services: LeaderServices,
    private readonly reportError: (message: string, cause?: unknown) => void,
  ) {}

  /** Resolves when the services have the wanted state, or when another change was requested. */
  setLeader(isLeader: boolean): Promise<void> {
    this.shouldBeOpen = isLeader;
    return this.transitions.runExclusive(() => this.applyWanted());
  }

  /** Handles no further changes; the services stay as they are. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.transitions.whenIdle();
  }

  private async applyWanted(): Promise<void> {
    if (this.stopped || this.isOpen === this.shouldBeOpen) return;
    clearTimeout(this.timer);
    this.isOpen = this.shouldBeOpen;
    try {
      if (!this.isOpen) return await this.services.close();
      await this.services.open();
      this.timer = setInterval(() => this.services.poll(), pollIntervalMs).unref();
    } catch (error) {
      this.reportError("Failed to start or stop leader services", error);
      await this.retryLater();
    }
    // `stop` may have been called in the meantime.
    if (this.stopped) clearTimeout(this.timer);
  }

  private async retryLater(): Promise<void> {
    if (!this.isOpen) return;
    this.isOpen = false;
    await this.services.close().catch(() => undefined);
    this.timer = setTimeout(() => void this.setLeader(this.shouldBeOpen), retryDelayMs).unref();
  }
}
