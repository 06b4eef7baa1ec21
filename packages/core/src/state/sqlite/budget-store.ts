import type { BudgetStore } from "../contract.ts";
import type { CostQuery, DayCost } from "../cost.ts";
import type { Amounts, Day, Spending } from "../spending.ts";
import type { Database } from "./database.ts";
import { readDayCosts } from "./day-costs.ts";
import { raiseBudget, readSpending } from "./spending.ts";

export class SqliteBudgetStore implements BudgetStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async spending(day: Day): Promise<Spending> {
    return readSpending(this.#database, day);
  }

  async raise(day: Day, agent: string | undefined, by: Partial<Amounts>): Promise<void> {
    this.#database.transaction(() => raiseBudget(this.#database, day, agent, by));
  }

  async costs(query: CostQuery): Promise<DayCost[]> {
    return readDayCosts(this.#database, query);
  }
}
