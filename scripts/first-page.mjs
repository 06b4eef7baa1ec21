// What a browser loads before the dashboard's first page can be used, and that it is small.
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";

const folder = resolve(import.meta.dirname, "../packages/server/dashboard");
const most = 250_000;

const page = readFileSync(join(folder, "index.html"), "utf8");
const files = [...page.matchAll(/(?:src|href)="(\/[^"]+\.(?:js|css))"/g)].map(([, path]) => path);
const sizes = files.map((path) => gzipSync(readFileSync(join(folder, path))).length);
const size = sizes.reduce((sum, one) => sum + one, gzipSync(page).length);

process.stdout.write(`first page: ${size} bytes in ${files.length + 1} files\n`);
if (size > most) fail(`more than ${most} bytes: load lazily what the first page does not need.`);
if (/(?:src|href)="(?:[a-z]+:)?\/\//.test(page)) fail("something is loaded from elsewhere.");

function fail(why) {
  process.stderr.write(`first page: ${why}\n`);
  process.exit(1);
}
