import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { mergeProcessCovs, type ProcessCov } from "@bcoe/v8-coverage";
import { convert } from "ast-v8-to-istanbul";
import type { CoverageMapData } from "istanbul-lib-coverage";
import { parseAstAsync } from "vitest/node";

const root = join(import.meta.dirname, "../..");
const packages = pathToFileURL(join(root, "packages/")).href;
/** Written by `scripts/build-for-coverage.mjs`. */
const sourceMapsFolder = join(root, "node_modules/.herdctl-maps");

/** Where a program writes its coverage on exit. */
const coverageFolder = join(root, "node_modules/.herdctl-counted");

/**
 * Coverage of the built programs that tests start; most of a runner's code runs in separate
 * processes. Each leaves two megabytes, so the files are read as they appear.
 */
export class ProcessCoverage {
  private merged: ProcessCov = { result: [] };
  private readonly timer: NodeJS.Timeout;

  constructor() {
    rmSync(coverageFolder, { recursive: true, force: true });
    mkdirSync(coverageFolder, { recursive: true });
    // Read by enable-process-coverage.ts in test workers.
    process.env.HERDCTL_COUNTED_IN = coverageFolder;
    this.timer = setInterval(() => this.readNewFiles(), 2_000).unref();
  }

  /** Maps the coverage back to source locations. */
  async collect(): Promise<CoverageMapData> {
    clearInterval(this.timer);
    this.readNewFiles();
    rmSync(coverageFolder, { recursive: true, force: true });
    const all: CoverageMapData = {};
    for (const script of this.merged.result) Object.assign(all, await mapToSource(script));
    return all;
  }

  private readNewFiles(): void {
    const files = readdirSync(coverageFolder).map((name) => join(coverageFolder, name));
    const read = files.flatMap((file) => {
      const merged = readCoverageFile(file);
      if (merged) rmSync(file);
      return merged ? [onlyOurPackages(merged)] : [];
    });
    if (read.length > 0) this.merged = mergeProcessCovs([this.merged, ...read]);
  }
}

/** Undefined while the file is being written. */
function readCoverageFile(file: string): ProcessCov | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

function onlyOurPackages({ result }: ProcessCov): ProcessCov {
  return { result: result.filter(({ url }) => url.startsWith(packages)) };
}

async function mapToSource({
  url,
  functions,
}: ProcessCov["result"][number]): Promise<CoverageMapData> {
  const code = readFileSync(fileURLToPath(url), "utf8");
  const map = join(sourceMapsFolder, `${url.slice(packages.length)}.map`);
  // A file that only re-exports has no source map.
  if (!existsSync(map)) return {};
  const sourceMap = JSON.parse(readFileSync(map, "utf8"));
  sourceMap.sources = sourceMap.sources.map((source: string) => new URL(source, url).href);
  return await convert({
    ...{ code, sourceMap, ast: await parseAstAsync(code) },
    coverage: { url, functions },
  });
}
