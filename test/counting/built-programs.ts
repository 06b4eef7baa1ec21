import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { mergeProcessCovs, type ProcessCov } from "@bcoe/v8-coverage";
import { convert } from "ast-v8-to-istanbul";
import type { CoverageMapData } from "istanbul-lib-coverage";
import { parseAstAsync } from "vitest/node";

const root = join(import.meta.dirname, "../..");
const built = pathToFileURL(join(root, "packages/core/dist/")).href;
/** Where `scripts/build-counted.mjs` puts them. */
const maps = join(root, "node_modules/.herdctl-maps");

/** Where a program writes on its way out what of it was run. */
const countedIn = join(root, "node_modules/.herdctl-counted");

/**
 * What was run of the built program while tests ran: most of a runner's work is done in processes
 * of their own. Each leaves two megabytes behind, so they are taken up as they come.
 */
export class BuiltPrograms {
  private counted: ProcessCov = { result: [] };
  private readonly timer: NodeJS.Timeout;

  constructor() {
    rmSync(countedIn, { recursive: true, force: true });
    mkdirSync(countedIn, { recursive: true });
    // For in-programs.ts, in the workers to come.
    process.env.HERDCTL_COUNTED_IN = countedIn;
    this.timer = setInterval(() => this.takeUp(), 2_000).unref();
  }

  /** By the places in the source from which it was built. */
  async counts(): Promise<CoverageMapData> {
    clearInterval(this.timer);
    this.takeUp();
    rmSync(countedIn, { recursive: true, force: true });
    const all: CoverageMapData = {};
    for (const script of this.counted.result) Object.assign(all, await inSource(script));
    return all;
  }

  private takeUp(): void {
    const files = readdirSync(countedIn).map((name) => join(countedIn, name));
    const read = files.flatMap((file) => {
      const counted = readWhole(file);
      if (counted) rmSync(file);
      return counted ? [ofCore(counted)] : [];
    });
    if (read.length > 0) this.counted = mergeProcessCovs([this.counted, ...read]);
  }
}

/** Undefined while it is being written. */
function readWhole(file: string): ProcessCov | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

function ofCore({ result }: ProcessCov): ProcessCov {
  return { result: result.filter(({ url }) => url.startsWith(built)) };
}

async function inSource({
  url,
  functions,
}: ProcessCov["result"][number]): Promise<CoverageMapData> {
  const code = readFileSync(fileURLToPath(url), "utf8");
  const map = join(maps, `${url.slice(built.length)}.map`);
  // What only passes on the exports of others comes from nowhere.
  if (!existsSync(map)) return {};
  const sourceMap = JSON.parse(readFileSync(map, "utf8"));
  sourceMap.sources = sourceMap.sources.map((source: string) => new URL(source, url).href);
  return await convert({
    ...{ code, sourceMap, ast: await parseAstAsync(code) },
    coverage: { url, functions },
  });
}
