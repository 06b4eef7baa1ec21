import { resolve } from "node:path";
import { startOrdered } from "./ordered-program.ts";

const program = resolve(import.meta.dirname, "../../scripts/postgres.mjs");

export interface PostgresProgram {
  /** The line that says where it is. */
  ready: Promise<string>;
  order(what: "stop" | "kill" | "start"): Promise<void>;
  /** Takes everything away; what is returned went wrong. */
  end(): Promise<string[]>;
}

/** `scripts/postgres.mjs` as a process of its own, which is gone when we are. */
export function startPostgresProgram(...options: string[]): PostgresProgram {
  const missing = "there is no PostgreSQL for the tests";
  const { ready, order, end } = startOrdered([program, ...options], { missing });
  return {
    ready,
    order,
    end: async () => {
      const { isWell, said } = await end();
      return isWell ? [] : [said];
    },
  };
}
