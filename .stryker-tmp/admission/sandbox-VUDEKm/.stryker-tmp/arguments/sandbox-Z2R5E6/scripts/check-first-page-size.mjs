// Checks the total size of the files that a browser loads for the dashboard's first page.
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";

const folder = resolve(import.meta.dirname, "../packages/server/dashboard");
const maxBytes = 250_000;

const page = readFileSync(join(folder, "index.html"), "utf8");
const files = [...page.matchAll(/(?:src|href)="(\/[^"]+\.(?:js|css))"/g)].map(([, path]) => path);
const sizes = files.map((path) => gzipSync(readFileSync(join(folder, path))).length);
const size = sizes.reduce((sum, one) => sum + one, gzipSync(page).length);

process.stdout.write(`first page: ${size} bytes in ${files.length + 1} files\n`);
if (size > maxBytes)
  fail(`more than ${maxBytes} bytes. Load lazily the modules that the first page does not need.`);
if (/(?:src|href)="(?:[a-z]+:)?\/\//.test(page)) fail("it loads a file from another host.");

function fail(reason) {
  process.stderr.write(`first page: ${reason}\n`);
  process.exit(1);
}
