import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, relative } from "node:path";
import { pathsBelow } from "./support/below.ts";
import { EngineDesk } from "./support/engine-desk.ts";
import { removeFoldersOfFailed } from "./support/leftovers.ts";
import { PostgresDesk } from "./support/postgres-desk.ts";

/**
 * The whole run works below one temp folder of its own. What still lies there at the end, and
 * every process that still names it in its environment, arguments or working directory, was
 * leaked by a test: the run fails and says which.
 */
export default function setup() {
  if (process.platform !== "linux") process.stderr.write(`${elsewhere}\n`);
  const outer = tmpdir();
  const folder = mkdtempSync(join(outer, "herdctl-test-"));
  process.env.TMPDIR = folder;
  process.env.HERDCTL_TEST_RUN = folder;
  process.env.PATH = pathOf(process.env.PATH ?? "");
  const engine = new EngineDesk(folder);
  const postgres = new PostgresDesk(folder);
  return async () => {
    const containers = [...(await engine.close()), ...(await postgres.close())];
    const processes = await settle(() => leakedProcesses(folder));
    removeFoldersOfFailed(folder);
    const files = await settle(() => readdirSync(folder).filter((name) => !isToolCache(name)));
    const told = files.flatMap((name) => [name, ...within(folder, name)]);
    rmSync(folder, { recursive: true, force: true });
    const left = [...containers, ...processes, ...told];
    if (left.length === 0) return;
    // Vitest only prints what is thrown here.
    process.exitCode = 1;
    throw new Error(`the tests left something behind:\n  ${left.join("\n  ")}`);
  };
}

const elsewhere =
  "Tests that look at processes need /proc: here they fail, and nobody looks for leaked processes.";

/** Without what npm puts there for its scripts: the `claude` among it is no person's. */
function pathOf(outer: string): string {
  return outer
    .split(delimiter)
    .filter((folder) => !folder.includes("node_modules"))
    .join(delimiter);
}

function isToolCache(name: string): boolean {
  return name === "node-compile-cache" || name.startsWith("vitest-");
}

/** By what is in it a folder tells whose it was. */
function within(folder: string, name: string): string[] {
  return pathsBelow(join(folder, name)).map((path) => relative(folder, path));
}

/** What is on its way out gets two seconds to go. */
async function settle(look: () => string[]): Promise<string[]> {
  const deadline = Date.now() + 2_000;
  while (look().length > 0 && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return look();
}

function leakedProcesses(folder: string): string[] {
  if (process.platform !== "linux") return [];
  const own = new Set([process.pid, process.ppid]);
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && !own.has(Number(name)))
    .flatMap((pid) => {
      const command = read(`/proc/${pid}/cmdline`).replaceAll("\0", " ");
      const isWorker = command.includes("node_modules") && command.includes("vitest");
      const traces = [read(`/proc/${pid}/environ`), command, link(`/proc/${pid}/cwd`)];
      const leaked = !isWorker && traces.some((trace) => trace.includes(folder));
      return leaked ? [`process ${pid}: ${command}`] : [];
    });
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

function link(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return "";
  }
}
