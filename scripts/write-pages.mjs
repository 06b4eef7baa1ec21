import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");

/** Writes the pages that are out of date and returns their paths. `onlyCheck` writes nothing. */
export function writePages(pages, { onlyCheck = false } = {}) {
  const stale = Object.entries(pages).filter(
    ([path, text]) => withoutOrder(textOf(path)) !== withoutOrder(text),
  );
  if (!onlyCheck) for (const [path, text] of stale) write(resolve(root, path), text);
  return stale.map(([path]) => path);
}

/** The compiler prints the members of inferred types and unions in an order that varies by build. */
export function withoutOrder(text) {
  return text
    ?.split(/[\s|;,]+/)
    .sort()
    .join("\n");
}

function textOf(path) {
  const file = resolve(root, path);
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

function write(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
