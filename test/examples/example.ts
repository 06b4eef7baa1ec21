import { spawn } from "node:child_process";
import { cpSync, existsSync, readFileSync, symlinkSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { type Job, StateManager } from "@herdctl/core";
import { expect } from "vitest";
import { checkout, endOf, type Run } from "../cli/herdctl.ts";
import { ownEnvironment } from "../support/claude.ts";
import { folderWith, type WhenOver } from "../support/folder.ts";

export const examplesDir = join(checkout, "examples");

export interface Example {
  /** A copy of the example, as it stands. */
  folder: string;
  env: Record<string, string>;
  whenOver: WhenOver;
  /** Runs these lines in the folder as a person would, with `herdctl` on the PATH. */
  shell(lines: string): Promise<Run>;
  /** All jobs on record, the oldest first. */
  jobs(): Promise<Job[]>;
  /** Every message of a job, as it lies on the disk. */
  output(job: Job | undefined): string;
}

/** A copy beside copies of all the others, with a home of its own and no sign-in. */
export function exampleFolder(
  name: string,
  whenOver: WhenOver,
  extra: Record<string, string> = {},
): Example {
  const own = ownEnvironment(extra);
  whenOver(own.dispose);
  const copies = folderWith({}, whenOver);
  cpSync(examplesDir, copies, { recursive: true });
  symlinkSync(join(checkout, "node_modules"), join(copies, "node_modules"));
  const folder = join(copies, name);
  // Without the `claude` that npm would put on the PATH: that of the SDK is run.
  const path = [join(checkout, "bin"), dirname(process.execPath), "/usr/bin", "/bin"];
  const env: Record<string, string> = { ...own.env, PATH: path.join(delimiter) };
  const shell = (lines: string) =>
    endOf(
      spawn("bash", ["--norc", "-euo", "pipefail", "-c", lines], {
        ...{ cwd: folder, env },
        stdio: ["ignore", "pipe", "pipe"],
      }),
    );
  // A folder of scripts has no fleet of its own: it is tried with that of `hello`.
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
  return { folder, env, whenOver, shell, jobs, output };
}

/** Does what the README says is to be done without a key. */
export async function rehearsed(example: Example): Promise<Run> {
  const run = await example.shell(withoutKey(example.folder));
  expect(run, `${run.stdout}\n${run.stderr}`).toMatchObject({ code: 0 });
  return run;
}

/** The commands of the README under that head. */
function withoutKey(folder: string): string {
  const readme = readFileSync(join(folder, "README.md"), "utf8");
  const [, section = ""] = /^## Without a key\n([\s\S]*?)^## /m.exec(readme) ?? [];
  const blocks = [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, lines]) => lines);
  return blocks.join("\n") || expect.fail(`${folder} says nothing to do without a key`);
}
