import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { extname, join, relative, sep } from "node:path";
import { placeholderPage } from "./pages.ts";

const types: Record<string, string> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".ico": "image/x-icon",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".map": "application/json",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".webmanifest": "application/manifest+json",
  ".woff2": "font/woff2",
};

/** Their names change with their content. */
const hashed = "/assets/";
const index = "/index.html";

interface StaticFile {
  path: string;
  type: string;
  etag: string;
}

/**
 * The files of the dashboard. What is in the folder is listed once, and only what stands in the
 * list is given: there is no way from an address to a path.
 */
export class StaticFiles {
  readonly #files: ReadonlyMap<string, StaticFile>;

  constructor(folder: string) {
    this.#files = listed(folder);
  }

  /** Undefined for what is not there. A page of the dashboard's own is its first page, wherever. */
  async answer(path: string, known: string | undefined): Promise<Response | undefined> {
    const found = this.#files.get(path) ?? (isPage(path) ? this.#files.get(index) : undefined);
    if (!found) return isPage(path) ? placeholder() : undefined;
    const cache = path.startsWith(hashed) ? "public, max-age=31536000, immutable" : "no-cache";
    const headers = { "cache-control": cache, etag: found.etag };
    if (known === found.etag) return new Response(null, { status: 304, headers });
    const body = new Uint8Array(await readFile(found.path));
    return new Response(body, { headers: { ...headers, "content-type": found.type } });
  }
}

/** What comes after the name of a page may hold anything, such as an agent's name with a dot. */
function isPage(path: string): boolean {
  const [, first = ""] = path.split("/");
  return extname(first) === "" && !path.startsWith(hashed);
}

function placeholder(): Response {
  const headers = { "content-type": "text/html; charset=utf-8", "cache-control": "no-store" };
  return new Response(placeholderPage, { headers });
}

function listed(folder: string): Map<string, StaticFile> {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return new Map();
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return new Map(
    entries
      .filter((entry) => entry.isFile() && Object.hasOwn(types, extname(entry.name)))
      .map((entry) => {
        const path = join(entry.parentPath, entry.name);
        const sum = createHash("sha256").update(readFileSync(path)).digest("base64url");
        const type = types[extname(path)] ?? "application/octet-stream";
        const name = `/${relative(folder, path).split(sep).join("/")}`;
        return [name, { path, type, etag: `"${sum.slice(0, 22)}"` }];
      }),
  );
}
