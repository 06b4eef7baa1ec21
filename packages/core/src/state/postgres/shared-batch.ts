import { UserError } from "../../errors/user-error.ts";
import type { Steps } from "../sql/steps.ts";

type Transact = (work: () => Steps<void>) => Promise<void>;

/** One call's part of a transaction, and who waits for it. */
interface Part {
  work(transaction: object): Steps<void>;
  kept(): void;
  lost(error: unknown): void;
}

/**
 * What is asked for while the last transaction is under way shares the next one: the way to the
 * server and its disk cost the same for one as for a hundred.
 */
export class SharedBatch {
  #waiting: Part[] = [];
  #round: Promise<void> | undefined;

  constructor(private readonly transact: Transact) {}

  /** Durable when it resolves. The work may be done twice, but only once is it kept. */
  join<T>(work: (transaction: object) => Steps<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let result: { value: T } | undefined;
      this.#waiting.push({
        *work(transaction) {
          result = { value: yield* work(transaction) };
        },
        kept: () => result && resolve(result.value),
        lost: reject,
      });
      this.#round ??= this.#rounds();
    });
  }

  /** Resolves when nobody waits any more. */
  async commit(): Promise<void> {
    await this.#round;
  }

  async #rounds(): Promise<void> {
    // What the same turn of the program asks for belongs together.
    await new Promise((next) => setImmediate(next));
    while (this.#waiting.length > 0) await this.#keep(this.#waiting.splice(0));
    this.#round = undefined;
  }

  async #keep(parts: readonly Part[]): Promise<void> {
    const error = await this.#failure(parts);
    if (error === undefined) for (const part of parts) part.kept();
    // Alone they would fail the same way, and it may be that they were kept after all.
    else if (parts.length === 1 || isOfAll(error)) for (const part of parts) part.lost(error);
    // One by one, so that what is wrong with one is nobody else's trouble.
    else for (const part of parts) await this.#keep([part]);
  }

  async #failure(parts: readonly Part[]): Promise<unknown> {
    try {
      await this.transact(function* () {
        const transaction = {};
        for (const part of parts) yield* part.work(transaction);
      });
      return undefined;
    } catch (error) {
      return error ?? new Error("a transaction failed");
    }
  }
}

function isOfAll(error: unknown): boolean {
  return (
    error instanceof UserError &&
    (error.code === "state_unavailable" || error.code === "node_fenced")
  );
}
