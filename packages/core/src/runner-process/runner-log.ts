import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { secretValues } from "../config/secret-values.ts";
import type { RunnerAssignment } from "./contract.ts";

/** Where a runner tells of its own troubles, for it has no terminal. */
export class RunnerLog {
  private readonly file: string;
  private readonly secrets: string[];

  constructor(jobDir: string, { environment, order }: RunnerAssignment) {
    this.file = join(jobDir, "runner.log");
    this.secrets = secretValues({ ...environment, ...order.agent.env });
  }

  add(trouble: string, cause: unknown): void {
    const told = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
    const line = `${new Date().toISOString()} ${trouble}: ${this.redacted(told)}\n`;
    try {
      appendFileSync(this.file, line, { mode: 0o600 });
    } catch {
      // Where no log can be written, the run is still the more important thing.
    }
  }

  redacted(text: string): string {
    return this.secrets.reduce((clean, secret) => clean.replaceAll(secret, "***"), text);
  }
}
