import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, normalize, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");

/** Modules that start a process, a browser, a database server or an engine. */
const startsProcesses =
  /from "(?:node:child_process|execa|playwright-core|dockerode|pg|@herdctl\/(?:rehearsal|discord|slack)[^"]*)"/;

/** Test files that neither start processes themselves nor import a helper of `test/` that does. */
export function listUnitTests(excluded: readonly string[]): string[] {
  return globSync("test/**/*.test.ts", { cwd: root })
    .filter((file) => !excluded.includes(file) && !file.endsWith(".browser.test.ts"))
    .filter((file) => !needsProcesses(file))
    .sort();
}

function needsProcesses(file: string, visited = new Set<string>()): boolean {
  if (visited.has(file)) return false;
  visited.add(file);
  const text = readFileSync(join(root, file), "utf8");
  if (startsProcesses.test(text)) return true;
  const imports = [...text.matchAll(/(?:from|import) "(\.{1,2}\/[^"]+)"/g)].map(([, path = ""]) =>
    normalize(join(dirname(file), path)),
  );
  return imports
    .filter((path) => path.startsWith("test/") && existsSync(join(root, path)))
    .some((path) => needsProcesses(path, visited));
}
