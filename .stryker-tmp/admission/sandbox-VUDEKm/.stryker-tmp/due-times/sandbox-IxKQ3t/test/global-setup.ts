import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, relative } from "node:path";
import { removeFoldersOfFailedTests } from "./support/cleanup-after-failure.ts";
import { listPathsBelow } from "./support/list-paths.ts";
import { SharedEngine } from "./support/shared-docker-engine.ts";
import { SharedPostgres } from "./support/shared-postgres.ts";

/**
 * All tests run below one temporary folder. Everything that is left in it at the end, and every
 * process that still names it in its environment, arguments or working directory, was leaked by a
 * test: the run fails and lists them.
 */
export default function setup() {
  if (process.platform !== "linux") process.stderr.write(`${noProcWarning}\n`);
  const outer = tmpdir();
  const folder = mkdtempSync(join(outer, "herdctl-test-"));
  process.env.TMPDIR = folder;
  process.env.HERDCTL_TEST_RUN = folder;
  process.env.PATH = pathOf(process.env.PATH ?? "");
  const engine = new SharedEngine(folder);
  const postgres = new SharedPostgres(folder);
  return async () => {
    const containers = [...(await engine.close()), ...(await postgres.close())];
    const processes = await waitUntilEmpty(() => leakedProcesses(folder));
    removeFoldersOfFailedTests(folder);
    const files = await waitUntilEmpty(() =>
      readdirSync(folder).filter((name) => !isToolCacheFolder(name)),
    );
    const summary = files.flatMap((name) => [name, ...pathsWithin(folder, name)]);
    rmSync(folder, { recursive: true, force: true });
    const left = [...containers, ...processes, ...summary];
    if (left.length === 0) return;
    // Vitest alone prints the error but exits with 0.
    process.exitCode = 1;
    throw new Error(`the tests left something behind:\n  ${left.join("\n  ")}`);
  };
}

const noProcWarning =
  "Without /proc, tests that inspect processes fail and leaked processes are not detected.";

/** Removes the folders that npm adds for scripts: their `claude` is not the user's. */
function pathOf(outer: string): string {
  return outer
    .split(delimiter)
    .filter((folder) => !folder.includes("node_modules"))
    .join(delimiter);
}

function isToolCacheFolder(name: string): boolean {
  return name === "node-compile-cache" || name.startsWith("vitest-");
}

/** The content of a folder shows which test leaked it. */
function pathsWithin(folder: string, name: string): string[] {
  return listPathsBelow(join(folder, name)).map((path) => relative(folder, path));
}

/** Allows two seconds for processes that are still exiting. */
async function waitUntilEmpty(findLeftovers: () => string[]): Promise<string[]> {
  const deadline = Date.now() + 2_000;
  while (findLeftovers().length > 0 && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return findLeftovers();
}

function leakedProcesses(folder: string): string[] {
  if (process.platform !== "linux") return [];
  const own = new Set([process.pid, process.ppid]);
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && !own.has(Number(name)))
    .flatMap((pid) => {
      const command = readIfPresent(`/proc/${pid}/cmdline`).replaceAll("\0", " ");
      const isWorker = command.includes("node_modules") && command.includes("vitest");
      const traces = [
        readIfPresent(`/proc/${pid}/environ`),
        command,
        readLinkIfPresent(`/proc/${pid}/cwd`),
      ];
      const leaked = !isWorker && traces.some((trace) => trace.includes(folder));
      return leaked ? [`process ${pid}: ${command}`] : [];
    });
}

function readIfPresent(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

function readLinkIfPresent(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return "";
  }
}
