import type { RouteName } from "@herdctl/server/contract";
import type { QueryClient } from "@tanstack/react-query";

const pause = 200;

/**
 * Asks anew for what has become old: at once, and then not before the answers are there and a short
 * pause is over, however many events come meanwhile. No event is forgotten.
 */
export class Refresher {
  readonly #old = new Set<RouteName>();
  #isAtWork = false;

  constructor(private readonly client: QueryClient) {}

  add(names: readonly RouteName[]): void {
    for (const name of names) this.#old.add(name);
    if (!this.#isAtWork) void this.#work();
  }

  everything(): void {
    void this.client.invalidateQueries();
  }

  async #work(): Promise<void> {
    this.#isAtWork = true;
    while (this.#old.size > 0) {
      const names = [...this.#old];
      this.#old.clear();
      await Promise.all(names.map((name) => this.client.invalidateQueries({ queryKey: [name] })));
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
    this.#isAtWork = false;
  }
}
