/** What only one node does for all: hooks, work sources, chats, old jobs, gates of schedules. */
export interface LeadDesks {
  /** Takes over what another lead left. */
  open(): Promise<void>;
  /** News of other nodes can get lost: from time to time the records are looked at. */
  look(): void;
  close(): Promise<void>;
}

const lookEvery = 15_000;
const tryAgainAfter = 2_000;

/** Opens and closes the desks of the lead, one after the other however fast the lead changes. */
export class Lead {
  private turn: Promise<void> = Promise.resolve();
  private isOpen = false;
  private wanted = false;
  private stopped = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly desks: LeadDesks,
    private readonly trouble: (message: string, cause?: unknown) => void,
  ) {}

  /** Resolves when it is so, or when something else is wanted by now. */
  set(isLead: boolean): Promise<void> {
    this.wanted = isLead;
    this.turn = this.turn.then(() => this.adjust());
    return this.turn;
  }

  /** The desks stay as they are, for whoever closes them himself. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.turn;
  }

  private async adjust(): Promise<void> {
    if (this.stopped || this.isOpen === this.wanted) return;
    clearTimeout(this.timer);
    this.isOpen = this.wanted;
    try {
      if (!this.isOpen) return await this.desks.close();
      await this.desks.open();
      this.timer = setInterval(() => this.desks.look(), lookEvery).unref();
    } catch (error) {
      this.trouble("what the lead does could not be begun or ended", error);
      await this.tryAgain();
    }
    // What was stopped meanwhile has left no timer.
    if (this.stopped) clearTimeout(this.timer);
  }

  private async tryAgain(): Promise<void> {
    if (!this.isOpen) return;
    this.isOpen = false;
    await this.desks.close().catch(() => undefined);
    this.timer = setTimeout(() => void this.set(this.wanted), tryAgainAfter).unref();
  }
}
