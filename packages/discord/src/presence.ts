import { ActivityType, type Client } from "discord.js";

/** Discord takes five in twenty seconds. */
const gap = 5_000;

/** Shows whether the agent is at work, no more often than Discord takes it. */
export class Presence {
  private wanted = false;
  private shown: boolean | undefined;
  private last = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly client: Client) {}

  show(isWorking: boolean): void {
    this.wanted = isWorking;
    if (this.timer || this.wanted === this.shown) return;
    const wait = Math.max(0, this.last + gap - Date.now());
    this.timer = setTimeout(() => this.send(), wait).unref();
  }

  stop(): void {
    clearTimeout(this.timer);
  }

  private send(): void {
    this.timer = undefined;
    if (this.wanted === this.shown) return;
    this.last = Date.now();
    this.shown = this.wanted;
    this.client.user?.setPresence({
      status: this.wanted ? "online" : "idle",
      activities: this.wanted ? [{ name: "at work", type: ActivityType.Custom }] : [],
    });
  }
}
