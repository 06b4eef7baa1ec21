import { setTimeout as delay } from "node:timers/promises";
import type { FleetControl } from "@herdctl/core";
import { type FleetProgram, fleetProgram, until } from "../support/fleet-program.ts";
import type { WhenOver } from "../support/folder.ts";
import { processesWith } from "../support/processes.ts";
import type { Stage } from "../support/stage.ts";
import { commandOf } from "./glimpse.ts";

/** On a busy machine a fleet may take its time to come up, and is started several times. */
export const patience = 240_000;

/** More deaths than any case plans: whoever dies so often would die for ever. */
const mostDeaths = 10;

/** Sees to it that a fleet runs, as a service manager would: whenever it dies, it is started again. */
export class Keeper {
  deaths = 0;
  /** What others could see of it when it died. */
  readonly glimpses: string[] = [];
  private fleet: FleetProgram | undefined;
  private stopping = false;
  private keeping: Promise<void> = Promise.resolve();

  constructor(
    private readonly on: Stage,
    private readonly file: string,
    private readonly whenOver: WhenOver,
    private readonly look: () => string[] = () => [],
  ) {}

  start(): void {
    this.keeping = this.keep();
    this.keeping.catch(() => undefined);
  }

  /** Asks the fleet, again and again until one has answered: any of them may die meanwhile. */
  async ask<T>(what: string, question: (control: FleetControl) => Promise<T>): Promise<T> {
    const answered = until(
      what,
      async () => {
        const { control } = this.fleet ?? {};
        const answer = control && question(control).then((value) => ({ value }));
        return answer?.catch(() => undefined);
      },
      patience,
    );
    const never = this.keeping.then(() => new Promise<never>(() => undefined));
    return (await Promise.race([answered, never])).value;
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await this.fleet?.stop();
    await this.keeping;
  }

  private async keep(): Promise<void> {
    while (!this.stopping) {
      const fleet = await fleetProgram(this.on, this.file, this.whenOver).catch(
        (error: Error) => error,
      );
      if (fleet instanceof Error) this.glimpses.push(fleet.message);
      else {
        this.fleet = fleet;
        await fleet.exited;
        this.fleet = undefined;
        this.glimpses.push(fleet.said());
      }
      if (this.stopping) return;
      this.deaths += 1;
      this.glimpses.push(...processesWith(`HOME=${this.on.home}`).map(commandOf), ...this.look());
      if (this.deaths > mostDeaths) throw new Error(`it died again and again:\n${this.words()}`);
      await delay(50);
    }
  }

  private words(): string {
    return this.glimpses.join("\n").slice(-4_000);
  }
}
