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

/** Who can be asked, whatever happens to it meanwhile. */
export type Asked = Pick<Keeper, "ask">;

/** Sees to it that a fleet runs, as a service manager would: whenever it dies, it is started again. */
export class Keeper {
  deaths = 0;
  /** What others could see of it when it died. */
  readonly glimpses: string[] = [];
  private fleet: FleetProgram | undefined;
  private stopping = false;
  /** Why it was not answered last. */
  private refusal = "";
  private keeping: Promise<void> = Promise.resolve();

  constructor(
    private readonly on: Stage & { flags?: string[] },
    private readonly file: string,
    private readonly whenOver: WhenOver,
    private readonly look: () => string[] = () => [],
    /** How long it stays away after its first death, in milliseconds. */
    private readonly away = 0,
  ) {}

  start(): void {
    // Where a case fails nobody else tells it.
    this.whenOver(() => {
      this.stopping = true;
    });
    this.keeping = this.keep();
    this.keeping.catch(() => undefined);
  }

  /** Asks the fleet, again and again until one has answered: any of them may die meanwhile. */
  async ask<T>(what: string, question: (control: FleetControl) => Promise<T>): Promise<T> {
    const answered = until(
      what,
      () =>
        this.tryToAsk(question).catch((error) => {
          this.refusal = String(error);
          return undefined;
        }),
      patience,
    ).catch((error: Error) => {
      throw new Error(`${error.message}: ${this.refusal}\n${this.words()}`);
    });
    const never = this.keeping.then(() => new Promise<never>(() => undefined));
    return (await Promise.race([answered, never])).value;
  }

  /** The answer of the fleet that runs now, if there is one. */
  async tryToAsk<T>(question: (control: FleetControl) => Promise<T>): Promise<{ value: T }> {
    if (!this.fleet) throw new Error("no fleet runs");
    return { value: await question(this.fleet.control) };
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
      await delay(this.deaths === 1 && this.away > 0 ? this.away : 50);
    }
  }

  words(): string {
    return [...this.glimpses, this.fleet?.said() ?? ""].join("\n").slice(-4_000);
  }
}

/** Several nodes as one: any may answer, the first if it can. */
export function anyOf(keepers: readonly Keeper[]): Asked {
  return {
    async ask(what, question) {
      const look = async () => {
        for (const keeper of keepers) {
          const answer = await keeper.tryToAsk(question).catch(() => undefined);
          if (answer) return answer;
        }
        return undefined;
      };
      const answered = until(what, look, patience).catch((error: Error) => {
        throw new Error([error.message, ...keepers.map((keeper) => keeper.words())].join("\n"));
      });
      return (await answered).value;
    },
  };
}
