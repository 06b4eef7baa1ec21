import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { hasErrorCode } from "@herdctl/protocol";

/**
 * Creates a job's folder inside an existing state folder. A state folder that was removed must not
 * be created again.
 */
export function ensureJobDir(jobDir: string): void {
  if (existsSync(jobDir)) return;
  for (const folder of [dirname(jobDir), jobDir]) {
    try {
      mkdirSync(folder, { mode: 0o700 });
    } catch (error) {
      if (!hasErrorCode(error, "EEXIST")) throw error;
    }
  }
}
