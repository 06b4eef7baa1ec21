import type { BudgetStore } from "../contract.ts";
import type { CostQuery, DayCost } from "../cost.ts";
import type { Amounts, Day, Spending } from "../spending.ts";
import { readDayCosts } from "./day-costs.ts";
import { raiseBudget, readSpending } from "./spending.ts";
import type { SqlDatabase } from "./sql-database.ts";

export class SqlBudgetStore implements BudgetStore {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async spending(day: Day): Promise<Spending> {
    return this.#database.read(() => readSpending(this.#database, day));
  }

  async raise(day: Day, agent: string | undefined, by: Partial<Amounts>): Promise<void> {
    await this.#database.transaction(() => raiseBudget(this.#database, day, agent, by));
  }

  async costs(query: CostQuery): Promise<DayCost[]> {
    return this.#database.read(() => readDayCosts(query));
  }
}
