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
import { processesWith } from "../support/processes.ts";
import { type Edit, edited } from "./edit.ts";

const checkout = resolve(import.meta.dirname, "../..");

/**
 * A copy of the checkout in which a defence can be taken away, so that the product needs no switch
 * for it. It is built, because runners and commands are processes of their own.
 */
export class Twin {
  readonly #folder = mkdtempSync(join(tmpdir(), "herdctl-twin-"));
  /** Packages whose source has changed since they were built. */
  readonly #stale = new Set<string>();

  constructor() {
    const left = new Set([".git", "coverage", "node_modules"]);
    for (const name of readdirSync(checkout).filter((one) => !left.has(one))) {
      cpSync(join(checkout, name), join(this.#folder, name), {
        recursive: true,
        verbatimSymlinks: true,
      });
    }
    linkPackages(join(checkout, "node_modules"), join(this.#folder, "node_modules"));
  }

  /** With the edit in force for as long as the work takes. */
  async without<T>({ file, ...edit }: Edit, work: () => Promise<T>): Promise<T> {
    const path = join(this.#folder, file);
    const whole = readFileSync(path, "utf8");
    writeFileSync(path, edited(whole, { file, ...edit }));
    const folder = file.split("/").slice(0, 2).join("/");
    this.#stale.add(folder);
    try {
      return await work();
    } finally {
      writeFileSync(path, whole);
      this.#stale.add(folder);
    }
  }

  /** Which of these tests passed and which failed, with the reason. */
  async run(tests: readonly { file: string; test: string }[]): Promise<TestEnd[]> {
    const results = join(this.#folder, "results.json");
    const files = [...new Set(tests.map(({ file }) => file))];
    const names = [...new Set(tests.map(({ test }) => test))];
    const pattern = names.map((name) => name.replaceAll(/[^\w ]/g, "\\$&")).join("|");
    rmSync(results, { force: true });
    for (const folder of this.#stale) this.#build(folder);
    const said = await this.#vitest([...files, "-t", pattern, `--outputFile.json=${results}`]);
    try {
      return endsIn(readFileSync(results, "utf8"));
    } catch (error) {
      throw new Error(`${files.join()} gave no results:\n${said}`, { cause: error });
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
    // Directly below the machine's own folder: what is nested deeper is too long for sockets.
    const temp = mkdtempSync(join(dirname(process.env.HERDCTL_TEST_RUN ?? tmpdir()), "herdctl-"));
    const { VITEST: _, VITEST_POOL_ID: __, VITEST_WORKER_ID: ___, ...env } = process.env;
    const child = spawn(process.execPath, [program, "run", ...config, ...args], {
      cwd: this.#folder,
      env: { ...env, TMPDIR: temp, HERDCTL_TEST_WIDE: "1" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let said = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => {
        said += text;
      });
    }
    await new Promise((done) => child.once("close", done));
    // What nobody swept, because just that was taken away.
    for (const pid of processesWith(`=${temp}`)) kill(pid);
    rmSync(temp, { recursive: true, force: true });
    return said;
  }
}

export interface TestEnd {
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

function endsIn(text: string): TestEnd[] {
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

/** All packages are shared but our own, which are the twin's. */
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
    // It has gone by itself.
  }
}
