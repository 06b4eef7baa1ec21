import { spawn } from "node:child_process";
import { cpSync, existsSync, readFileSync, symlinkSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { StateManager } from "@herdctl/core/internal";
import type { Job } from "@herdctl/protocol";
import { expect } from "vitest";
import { type CommandResult, checkout, waitForExit } from "../cli/run-herdctl.ts";
import { createIsolatedEnvironment } from "../support/claude-binaries.ts";
import { type RegisterCleanup, tempFolderWith } from "../support/temp-folder.ts";

export const examplesDir = join(checkout, "examples");

export interface Example {
  /** An unchanged copy of the example. */
  folder: string;
  env: Record<string, string>;
  onCleanup: RegisterCleanup;
  /** Runs these lines in the folder, with `herdctl` on the PATH. */
  shell(lines: string): Promise<CommandResult>;
  /** All recorded jobs, oldest first. */
  jobs(): Promise<Job[]>;
  /** The output file of a job. */
  output(job: Job | undefined): string;
}

/** A copy beside copies of all other examples, with a separate home and no sign-in. */
export function copyExample(
  name: string,
  onCleanup: RegisterCleanup,
  extra: Record<string, string> = {},
): Example {
  const own = createIsolatedEnvironment(extra);
  onCleanup(own.dispose);
  const copies = tempFolderWith({}, onCleanup);
  cpSync(examplesDir, copies, { recursive: true });
  symlinkSync(join(checkout, "node_modules"), join(copies, "node_modules"));
  const folder = join(copies, name);
  // Excludes the `claude` that npm puts on the PATH, so that the SDK's runs.
  const path = [join(checkout, "bin"), dirname(process.execPath), "/usr/bin", "/bin"];
  const env: Record<string, string> = { ...own.env, PATH: path.join(delimiter) };
  const shell = (lines: string) =>
    waitForExit(
      spawn("bash", ["--norc", "-euo", "pipefail", "-c", lines], {
        ...{ cwd: folder, env },
        stdio: ["ignore", "pipe", "pipe"],
      }),
    );
  // A folder of scripts has no fleet and is run with that of `hello`.
  const fleet = existsSync(join(folder, "herdctl.yaml")) ? folder : join(copies, "hello");
  const jobs = async () => {
    const state = await new StateManager(join(fleet, ".herdctl")).open({
      readOnly: true,
      store: env.HERDCTL_STORE,
    });
    const { jobs } = await state.jobs.list({ limit: 50 });
    await state.close();
    return jobs.reverse();
  };
  const output = (job: Job | undefined) =>
    readFileSync(join(folder, ".herdctl/jobs", job?.id ?? "none", "output.jsonl"), "utf8");
  return { folder, env, onCleanup, shell, jobs, output };
}

/** Runs the steps of the README that need no key. */
export async function runRehearsed(example: Example): Promise<CommandResult> {
  const run = await example.shell(readmeCommands(example.folder));
  expect(run, `${run.stdout}\n${run.stderr}`).toMatchObject({ code: 0 });
  return run;
}

/** The commands of that section of the README. */
function readmeCommands(folder: string): string {
  const readme = readFileSync(join(folder, "README.md"), "utf8");
  const [, section = ""] = /^## Without a key\n([\s\S]*?)^## /m.exec(readme) ?? [];
  const blocks = [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, lines]) => lines);
  return blocks.join("\n") || expect.fail(`${folder} says nothing to do without a key`);
}
