import { resolve } from "node:path";
import { startControlledProgram } from "./controlled-process.ts";

const program = resolve(import.meta.dirname, "../../scripts/postgres.mjs");

export interface PostgresProgram {
  /** The line with its address. */
  ready: Promise<string>;
  sendCommand(what: "stop" | "kill" | "start"): Promise<void>;
  /** Removes everything and returns the errors. */
  end(): Promise<string[]>;
}

/** Runs `scripts/postgres.mjs`, which ends with this process. */
export function startPostgresProgram(...options: string[]): PostgresProgram {
  const unavailableMessage = "there is no PostgreSQL for the tests";
  const { ready, sendCommand, end } = startControlledProgram([program, ...options], {
    unavailableMessage,
  });
  return {
    ready,
    sendCommand,
    end: async () => {
      const { isSuccess, output } = await end();
      return isSuccess ? [] : [output];
    },
  };
}
