import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { extname, join, relative, sep } from "node:path";
import { promisify } from "node:util";
import { brotliCompress } from "node:zlib";
import { placeholderPage } from "./login-page.ts";

const contentTypes: Record<string, string> = {
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

/** Files whose names contain a content hash. */
const hashedAssetsPrefix = "/assets/";
const indexPath = "/index.html";

interface StaticFile {
  path: string;
  type: string;
  etag: string;
}

/**
 * The files of the dashboard. The folder is listed once, and only listed files are served, so a URL
 * is never turned into a file path.
 */
export class StaticFiles {
  readonly #files: ReadonlyMap<string, StaticFile>;
  readonly #compressed = new Map<string, Promise<Buffer>>();

  constructor(folder: string) {
    this.#files = listFiles(folder);
  }

  /** Undefined for unknown files. All page paths return `index.html`, because the dashboard routes in the browser. */
  async serve(
    path: string,
    ifNoneMatch: string | undefined,
    acceptEncoding: string | undefined,
  ): Promise<Response | undefined> {
    const file =
      this.#files.get(path) ?? (isPagePath(path) ? this.#files.get(indexPath) : undefined);
    if (!file) return isPagePath(path) ? placeholderResponse() : undefined;
    const cache = path.startsWith(hashedAssetsPrefix)
      ? "public, max-age=31536000, immutable"
      : "no-cache";
    const headers = { "cache-control": cache, etag: file.etag, vary: "accept-encoding" };
    if (ifNoneMatch === file.etag) return new Response(null, { status: 304, headers });
    const isCompressed = isCompressible(file) && acceptsBrotli(acceptEncoding);
    const body = isCompressed ? await this.#compress(file) : await readFile(file.path);
    return new Response(new Uint8Array(body), {
      headers: {
        ...headers,
        "content-type": file.type,
        ...(isCompressed && { "content-encoding": "br" }),
      },
    });
  }

  /** Each file is compressed once, when a browser first asks for it. */
  #compress(file: StaticFile): Promise<Buffer> {
    const known = this.#compressed.get(file.path);
    if (known) return known;
    const compressed = readFile(file.path).then((content) => compressBrotli(content));
    this.#compressed.set(file.path, compressed);
    return compressed;
  }
}

const compressBrotli = promisify(brotliCompress);

/** Pictures and fonts are compressed already. */
function isCompressible({ type }: StaticFile): boolean {
  return /^text\/|json|svg/.test(type);
}

function acceptsBrotli(acceptEncoding = ""): boolean {
  return /(?:^|,)\s*br\s*(?:$|,|;\s*q=(?!0(?:\.0*)?\s*(?:$|,)))/.test(acceptEncoding);
}

/** Only the first path segment counts: later ones may contain dots, such as in agent names. */
function isPagePath(path: string): boolean {
  const [, first = ""] = path.split("/");
  return extname(first) === "" && !path.startsWith(hashedAssetsPrefix);
}

function placeholderResponse(): Response {
  const headers = { "content-type": "text/html; charset=utf-8", "cache-control": "no-store" };
  return new Response(placeholderPage, { headers });
}

function listFiles(folder: string): Map<string, StaticFile> {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return new Map();
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return new Map(
    entries
      .filter(
        (entry) =>
          /* defence: listed-static-files */ entry.isFile() &&
          Object.hasOwn(contentTypes, extname(entry.name)),
      )
      .map((entry) => {
        const path = join(entry.parentPath, entry.name);
        const digest = createHash("sha256").update(readFileSync(path)).digest("base64url");
        const type = contentTypes[extname(path)] ?? "application/octet-stream";
        const name = `/${relative(folder, path).split(sep).join("/")}`;
        return [name, { path, type, etag: `"${digest.slice(0, 22)}"` }];
      }),
  );
}
