import { spawn, spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { z } from "zod";
import { processesWithMarker } from "../support/processes-with-marker.ts";
import { applyEdit, findMarks, type SourceEdit } from "./source-edit.ts";

const checkout = resolve(import.meta.dirname, "../..");

/**
 * A copy of the checkout for removing defences, so that the product needs no switch for it. It is
 * built, because runners and commands are separate processes.
 */
export class CheckoutCopy {
  readonly #folder = mkdtempSync(join(tmpdir(), "herdctl-twin-"));
  /** Packages whose source changed since their last build. */
  readonly #stale = new Set<string>();

  constructor() {
    const excluded = new Set([".git", "coverage", "node_modules"]);
    for (const name of readdirSync(checkout).filter((one) => !excluded.has(one))) {
      cpSync(join(checkout, name), join(this.#folder, name), {
        recursive: true,
        verbatimSymlinks: true,
      });
    }
    linkPackages(join(checkout, "node_modules"), join(this.#folder, "node_modules"));
  }

  /** Applies the edit while `work` runs, and restores the file afterwards. */
  async withEdit<T>(edit: SourceEdit, work: () => Promise<T>): Promise<T> {
    const [file] = findMarks(this.#folder).get(edit.mark) ?? [];
    if (file === undefined) throw new Error(`no mark ${edit.mark} in packages/*/src`);
    const path = join(this.#folder, file);
    const original = readFileSync(path, "utf8");
    writeFileSync(path, applyEdit(original, edit));
    const folder = file.split("/").slice(0, 2).join("/");
    this.#stale.add(folder);
    try {
      return await work();
    } finally {
      writeFileSync(path, original);
      this.#stale.add(folder);
    }
  }

  /** Which of these tests passed and which failed, with the reason. */
  async runTests(tests: readonly { file: string; test: string }[]): Promise<TestOutcome[]> {
    const results = join(this.#folder, "results.json");
    const files = [...new Set(tests.map(({ file }) => file))];
    const names = [...new Set(tests.map(({ test }) => test))];
    const pattern = names.map((name) => name.replaceAll(/[^\w ]/g, "\\$&")).join("|");
    rmSync(results, { force: true });
    for (const folder of this.#stale) this.#build(folder);
    const output = await this.#vitest([...files, "-t", pattern, `--outputFile.json=${results}`]);
    try {
      return parseTestOutcomes(readFileSync(results, "utf8"));
    } catch (error) {
      throw new Error(`${files.join()} gave no results:\n${output}`, { cause: error });
    }
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #build(folder: string): void {
    const cwd = join(this.#folder, folder);
    const tsdown = join(this.#folder, "node_modules/tsdown/dist/run.mjs");
    const built = spawnSync(process.execPath, [tsdown, "--no-dts"], { cwd, encoding: "utf8" });
    if (built.status !== 0) throw new Error(`${folder} cannot be built:\n${built.stderr}`);
    this.#stale.delete(folder);
  }

  async #vitest(args: string[]): Promise<string> {
    const program = "node_modules/vitest/vitest.mjs";
    const config = ["--config", "vitest.removal.config.ts", "--reporter=json"];
    // Directly below the system's temporary folder, because deeper paths are too long for sockets.
    const temp = mkdtempSync(join(dirname(process.env.HERDCTL_TEST_RUN ?? tmpdir()), "herdctl-"));
    const { VITEST: _, VITEST_POOL_ID: __, VITEST_WORKER_ID: ___, ...env } = process.env;
    const child = spawn(process.execPath, [program, "run", ...config, ...args], {
      cwd: this.#folder,
      env: { ...env, TMPDIR: temp, HERDCTL_TEST_WIDE: "1" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => {
        output += text;
      });
    }
    await new Promise((done) => child.once("close", done));
    // Processes that remain because the removed defence would have ended them.
    for (const pid of processesWithMarker(`=${temp}`)) kill(pid);
    rmSync(temp, { recursive: true, force: true });
    return output;
  }
}

export interface TestOutcome {
  name: string;
  status: string;
  reason: string;
}

const resultsSchema = z.object({
  testResults: z.array(
    z.object({
      assertionResults: z.array(
        z.object({
          fullName: z.string(),
          status: z.string(),
          failureMessages: z.array(z.string()),
        }),
      ),
    }),
  ),
});

function parseTestOutcomes(text: string): TestOutcome[] {
  const { testResults } = resultsSchema.parse(JSON.parse(text));
  return testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === "passed" || status === "failed")
    .map(({ fullName, status, failureMessages }) => ({
      name: fullName,
      status,
      reason: failureMessages.join("\n"),
    }));
}

/** Links all packages except our own, which are copied. */
function linkPackages(from: string, to: string): void {
  mkdirSync(to);
  for (const name of readdirSync(from).filter((one) => one !== "@herdctl" && one !== ".vite")) {
    symlinkSync(join(from, name), join(to, name));
  }
  cpSync(join(from, "@herdctl"), join(to, "@herdctl"), { recursive: true, verbatimSymlinks: true });
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has exited already.
  }
}
