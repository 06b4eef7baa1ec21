import { existsSync } from "node:fs";
import { join } from "node:path";
import { acquireLock } from "../../packages/core/src/state/lock.ts";
import { openForWriting } from "../../packages/core/src/state/sqlite/open.ts";
import { type Wrong, wrongs } from "./story.ts";

/** Nobody holds the folder of a node any more. */
export function judgeLock(stateDir: string): Wrong[] {
  try {
    acquireLock(stateDir).release();
    return [];
  } catch (error) {
    return wrongs("damaged", [String(error)]);
  }
}

/** Nobody holds the state any more, and the next writer finds every page and reference sound. */
export function judgeState(stateDir: string): Wrong[] {
  const file = join(stateDir, "herd.db");
  if (!existsSync(file)) return wrongs("damaged", ["there is no state"]);
  try {
    acquireLock(stateDir).release();
    const database = openForWriting(file);
    const pages = database.all("PRAGMA integrity_check").map((row) => row.integrity_check);
    const references = database.all("PRAGMA foreign_key_check");
    database.close();
    const broken = references.map((row) => `broken reference: ${JSON.stringify(row)}`);
    return wrongs("damaged", [...(pages.join() === "ok" ? [] : pages.map(String)), ...broken]);
  } catch (error) {
    return wrongs("damaged", [String(error)]);
  }
}
