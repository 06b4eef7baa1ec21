import { existsSync } from "node:fs";
import { join } from "node:path";
import { openForWriting } from "../../packages/core/src/store/sqlite/open.ts";
import { acquireLock } from "../../packages/core/src/store/sqlite/state-lock.ts";
import { type Violation, violations } from "./observed-run.ts";

/** Checks that the folder of a node is unlocked. */
export function checkLock(stateDir: string): Violation[] {
  try {
    acquireLock(stateDir).release();
    return [];
  } catch (error) {
    return violations("damaged", [String(error)]);
  }
}

/** Checks that the state is unlocked and that its pages and references are sound. */
export function checkState(stateDir: string): Violation[] {
  const file = join(stateDir, "herd.db");
  if (!existsSync(file)) return violations("damaged", ["there is no state"]);
  try {
    acquireLock(stateDir).release();
    const database = openForWriting(file);
    const pages = database.all("PRAGMA integrity_check").map((row) => row.integrity_check);
    const references = database.all("PRAGMA foreign_key_check");
    database.close();
    const broken = references.map((row) => `broken reference: ${JSON.stringify(row)}`);
    return violations("damaged", [...(pages.join() === "ok" ? [] : pages.map(String)), ...broken]);
  } catch (error) {
    return violations("damaged", [String(error)]);
  }
}
