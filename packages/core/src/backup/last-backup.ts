import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { writeFileAtomic } from "../lib/atomic-file.ts";

const lastBackupSchema = z.object({
  file: z.string(),
  created_at: z.iso.datetime(),
  encrypted: z.boolean(),
});
export type LastBackup = z.infer<typeof lastBackupSchema>;

const fileName = "last-backup.json";

/** Remembers where the last backup is, so that the doctor finds it when the database is damaged. */
export async function recordLastBackup(stateDir: string, backup: LastBackup): Promise<void> {
  await writeFileAtomic(join(stateDir, fileName), `${JSON.stringify(backup)}\n`);
}

/** Undefined if there is none, or its file is gone. */
export function readLastBackup(stateDir: string): LastBackup | undefined {
  try {
    const text = readFileSync(join(stateDir, fileName), "utf8");
    const backup = lastBackupSchema.parse(JSON.parse(text));
    return existsSync(backup.file) ? backup : undefined;
  } catch {
    return undefined;
  }
}
