import { ActivityType, type Client } from "discord.js";

/** Discord allows five presence updates in twenty seconds. */
const minIntervalMs = 5_000;

/** Shows whether the agent is working, within Discord's rate limit. */
export class PresenceIndicator {
  private wantedState = false;
  private shownState: boolean | undefined;
  private lastSentAt = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly client: Client) {}

  setWorking(isWorking: boolean): void {
    this.wantedState = isWorking;
    if (this.timer || this.wantedState === this.shownState) return;
    const delayMs = Math.max(0, this.lastSentAt + minIntervalMs - Date.now());
    this.timer = setTimeout(() => this.sendPresence(), delayMs).unref();
  }

  stop(): void {
    clearTimeout(this.timer);
  }

  private sendPresence(): void {
    this.timer = undefined;
    if (this.wantedState === this.shownState) return;
    this.lastSentAt = Date.now();
    this.shownState = this.wantedState;
    this.client.user?.setPresence({
      status: this.wantedState ? "online" : "idle",
      activities: this.wantedState ? [{ name: "Working", type: ActivityType.Custom }] : [],
    });
  }
}
