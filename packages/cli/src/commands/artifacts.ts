import { constants } from "node:fs";
import { copyFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Artifact, StateManager } from "@herdctl/core";
import { UserError } from "@herdctl/core/light";
import { type Call, textOption } from "../command.ts";
import { findJob } from "../find-job.ts";
import { readState } from "../read-state.ts";
import { artifactTable } from "../show/artifact-table.ts";
import { harmless } from "../show/harmless.ts";
import { lookOf } from "../show/look.ts";

export async function run(call: Call): Promise<number> {
  const { cwd, options, terminal } = call;
  const [id, name] = call.arguments;
  if (id === undefined) throw new UserError("usage", "the files of which job?");
  const { folder, artifacts } = await readState(call, (state) => keptBy(state, id));
  if (name !== undefined) {
    const found = findArtifact(artifacts, name);
    const target = resolve(cwd, textOption(options, "output") ?? found.name);
    await copyOut(join(folder, found.name), target);
    if (terminal.json) terminal.printJson({ ...found, copied_to: target });
    else terminal.print(`Copied to ${harmless(target)}.`);
    return 0;
  }
  if (terminal.json) terminal.printJson({ artifacts });
  else if (artifacts.length === 0) terminal.print("The job keeps no files.");
  else
    for (const line of artifactTable(artifacts, new Date(), lookOf(terminal))) terminal.print(line);
  return 0;
}

/** From the folder, so that those of a job at work are there too. */
async function keptBy(state: StateManager, id: string) {
  const { artifactsDir, keptArtifacts } = await import("@herdctl/core/state");
  const jobDir = state.jobDir((await findJob(state, id)).id);
  return { folder: artifactsDir(jobDir), artifacts: await keptArtifacts(jobDir) };
}

function findArtifact(artifacts: Artifact[], name: string): Artifact {
  const found = artifacts.find((one) => one.name === name);
  if (found) return found;
  const names = artifacts.map((one) => harmless(one.name)).join(", ");
  throw new UserError("usage", `the job keeps no file \`${name}\``, {
    hint: `It keeps: ${names || "none"}.`,
  });
}

async function copyOut(from: string, to: string): Promise<void> {
  try {
    await copyFile(from, to, constants.COPYFILE_EXCL);
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    if (code === "EEXIST") {
      throw new UserError("file_exists", `there is already a file ${to}`, {
        hint: "Choose another place with `--output`.",
      });
    }
    throw new UserError("usage", `${to} cannot be written (${code})`, {
      hint: "Choose another place with `--output`.",
      cause,
    });
  }
}
