import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { secretValues } from "../config/secret-values.ts";
import type { RunnerAssignment } from "./contract.ts";

/** Where a runner tells of its own troubles, for it has no terminal. */
export class RunnerLog {
  private readonly file: string;

  constructor(
    jobDir: string,
    private readonly assignment: RunnerAssignment,
  ) {
    this.file = join(jobDir, "runner.log");
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
    const { environment, order } = this.assignment;
    const secrets = secretValues({ ...environment, ...order.agent.env });
    return secrets.reduce((clean, secret) => clean.replaceAll(secret, "***"), text);
  }
}
