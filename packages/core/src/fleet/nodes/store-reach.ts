import { machineTime } from "../../state/lease-file.ts";
import { lostAfter } from "../../state/node-terms.ts";
import { mayLose } from "./may-go-on.ts";
import { beatEvery, silentAfter } from "./terms.ts";

/** Whether this node reaches the store, since when, and what it has told its peers about that. */
export class StoreReach {
  private heardAt = 0;
  private since: number | undefined;
  private saidAwayAt: number | undefined;
  private failed: string | undefined;

  get isThere(): boolean {
    return this.failed === undefined && this.sinceHeard <= silentAfter;
  }

  /** Since the question was sent that the store answered last. */
  get sinceHeard(): number {
    return machineTime() - this.heardAt;
  }

  get whyNot(): string {
    return this.failed ?? "it does not answer";
  }

  /** The store has answered a question of that time; true when it had been away. */
  heard(sentAt: number): boolean {
    const wasAway = this.failed !== undefined || sentAt - this.heardAt > silentAfter + beatEvery;
    const isNew = wasAway || this.since === undefined;
    if (isNew) this.since = machineTime();
    this.failed = undefined;
    this.heardAt = sentAt;
    return isNew;
  }

  missed(why?: string): void {
    this.failed = why ?? this.failed;
    this.since = undefined;
  }

  /** Whoever is told that it is away may rely on that for a while. */
  tellPeer(): boolean {
    const { isThere } = this;
    if (!isThere) this.saidAwayAt = machineTime();
    return isThere;
  }

  /** Long enough to judge of others by their beats. */
  get mayLoseOthers(): boolean {
    const { since: reachedSince, saidAwayAt } = this;
    return mayLose({ now: machineTime(), reachedSince, saidAwayAt, patience: lostAfter });
  }
}
