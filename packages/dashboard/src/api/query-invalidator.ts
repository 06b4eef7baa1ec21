import type { RouteName } from "@herdctl/server/contract";
import type { QueryClient } from "@tanstack/react-query";

const minIntervalMs = 200;

/**
 * Refetches stale routes: the first time immediately, then only after the previous refetch has
 * finished and a short pause has passed. Events that arrive in between are batched, never dropped.
 */
export class QueryInvalidator {
  readonly #staleRoutes = new Set<RouteName>();
  #isRunning = false;

  constructor(private readonly client: QueryClient) {}

  add(names: readonly RouteName[]): void {
    for (const name of names) this.#staleRoutes.add(name);
    if (!this.#isRunning) void this.#run();
  }

  invalidateAll(): void {
    void this.client.invalidateQueries();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#staleRoutes.size > 0) {
      const names = [...this.#staleRoutes];
      this.#staleRoutes.clear();
      await Promise.all(names.map((name) => this.client.invalidateQueries({ queryKey: [name] })));
      await new Promise((resolve) => setTimeout(resolve, minIntervalMs));
    }
    this.#isRunning = false;
  }
}
