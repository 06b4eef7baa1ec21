import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");

/** Writes the pages that are out of date and returns their paths. `onlyCheck` writes nothing. */
export function writePages(pages, { onlyCheck = false } = {}) {
  const stale = Object.entries(pages).filter(([path, text]) => textOf(path) !== text);
  if (!onlyCheck) for (const [path, text] of stale) write(resolve(root, path), text);
  return stale.map(([path]) => path);
}

function textOf(path) {
  const file = resolve(root, path);
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

function write(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
