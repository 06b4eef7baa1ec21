import { readdirSync } from "node:fs";
import { join } from "node:path";

/** Every path below a folder in which others are at work; below a file there is none. */
export function pathsBelow(folder: string): string[] {
  const entries = unlessGone(() => readdirSync(folder, { withFileTypes: true })) ?? [];
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? [path, ...pathsBelow(path)] : [path];
  });
}

/** What a look finds; nothing when the file or the process went away since it was heard of. */
export function unlessGone<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : "";
    if (code === "ENOENT" || code === "ENOTDIR" || code === "ESRCH") return undefined;
    throw error;
  }
}
