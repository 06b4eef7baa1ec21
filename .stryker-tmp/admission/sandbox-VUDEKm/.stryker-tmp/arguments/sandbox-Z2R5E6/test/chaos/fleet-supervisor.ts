import { setTimeout as delay } from "node:timers/promises";
import type { FleetControl } from "@herdctl/protocol";
import { type FleetProcess, startFleetProcess, waitUntil } from "../support/fleet-child-process.ts";
import type { TestHarness } from "../support/harness.ts";
import { processesWithMarker } from "../support/processes-with-marker.ts";
import type { RegisterCleanup } from "../support/temp-folder.ts";
import { commandLineOf } from "./exposed-process-data.ts";

/** On a busy machine a fleet starts slowly and is started several times. */
export const askTimeoutMs = 240_000;

/** No case plans as many deaths: a fleet that reaches this number is in a crash loop. */
const maxDeaths = 10;

/** Repeats a question until some fleet process answers it. */
export type FleetQuestioner = Pick<Keeper, "ask">;

/** Keeps a fleet running as a service manager would: restarts it whenever it dies. */
export class Keeper {
  deaths = 0;
  /** The output of the fleet processes that died. */
  readonly observedOutput: string[] = [];
  private fleet: FleetProcess | undefined;
  private isStopping = false;
  /** The error of the last question without an answer. */
  private lastError = "";
  private keepLoop: Promise<void> = Promise.resolve();

  constructor(
    private readonly harness: TestHarness & { flags?: string[] },
    private readonly file: string,
    private readonly onCleanup: RegisterCleanup,
    private readonly observe: () => string[] = () => [],
    /** Pause before the restart after the first death, in milliseconds. */
    private readonly downtimeMs = 0,
  ) {}

  start(): void {
    // A failed case does not stop it otherwise.
    this.onCleanup(() => {
      this.isStopping = true;
    });
    this.keepLoop = this.keepRunning();
    this.keepLoop.catch(() => undefined);
  }

  /** Repeats the question until it is answered, since the fleet may die meanwhile. */
  async ask<T>(what: string, question: (control: FleetControl) => Promise<T>): Promise<T> {
    const answered = waitUntil(
      what,
      () =>
        this.askOnce(question).catch((error) => {
          this.lastError = String(error);
          return undefined;
        }),
      askTimeoutMs,
    ).catch((error: Error) => {
      throw new Error(`${error.message}: ${this.lastError}\n${this.recentOutput()}`);
    });
    const never = this.keepLoop.then(() => new Promise<never>(() => undefined));
    return (await Promise.race([answered, never])).value;
  }

  /** Asks the running fleet once. */
  async askOnce<T>(question: (control: FleetControl) => Promise<T>): Promise<{ value: T }> {
    if (!this.fleet) throw new Error("no fleet runs");
    return { value: await question(this.fleet.control) };
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    await this.fleet?.stop();
    await this.keepLoop;
  }

  private async keepRunning(): Promise<void> {
    while (!this.isStopping) {
      const fleet = await startFleetProcess(this.harness, this.file, this.onCleanup).catch(
        (error: Error) => error,
      );
      if (fleet instanceof Error) this.observedOutput.push(fleet.message);
      else {
        this.fleet = fleet;
        await fleet.exited;
        this.fleet = undefined;
        this.observedOutput.push(fleet.output());
      }
      if (this.isStopping) return;
      this.deaths += 1;
      this.observedOutput.push(
        ...processesWithMarker(`HOME=${this.harness.home}`).map(commandLineOf),
        ...this.observe(),
      );
      if (this.deaths > maxDeaths)
        throw new Error(`it died again and again:\n${this.recentOutput()}`);
      await delay(this.deaths === 1 && this.downtimeMs > 0 ? this.downtimeMs : 50);
    }
  }

  recentOutput(): string {
    return [...this.observedOutput, this.fleet?.output() ?? ""].join("\n").slice(-4_000);
  }
}

/** Several nodes as one: asks them in order until one answers. */
export function anyKeeper(keepers: readonly Keeper[]): FleetQuestioner {
  return {
    async ask(what, question) {
      const observe = async () => {
        for (const keeper of keepers) {
          const answer = await keeper.askOnce(question).catch(() => undefined);
          if (answer) return answer;
        }
        return undefined;
      };
      const answered = waitUntil(what, observe, askTimeoutMs).catch((error: Error) => {
        throw new Error(
          [error.message, ...keepers.map((keeper) => keeper.recentOutput())].join("\n"),
        );
      });
      return (await answered).value;
    },
  };
}
