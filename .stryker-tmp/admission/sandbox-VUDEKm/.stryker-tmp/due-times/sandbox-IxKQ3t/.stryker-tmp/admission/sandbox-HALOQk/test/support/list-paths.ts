import { readdirSync } from "node:fs";
import { join } from "node:path";
import { hasErrorCode } from "@herdctl/protocol";

/** Every path below a folder that others may change meanwhile; none below a file. */
export function listPathsBelow(folder: string): string[] {
  const entries = ignoreMissing(() => readdirSync(folder, { withFileTypes: true })) ?? [];
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? [path, ...listPathsBelow(path)] : [path];
  });
}

/** Returns undefined when the file or process has disappeared meanwhile. */
export function ignoreMissing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (hasErrorCode(error, "ENOENT", "ENOTDIR", "ESRCH")) return undefined;
    throw error;
  }
}
