import { constants } from "node:fs";
import { copyFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { StateManager } from "@herdctl/core";
import { type Artifact, errorCode, UserError } from "@herdctl/protocol";
import { type CommandContext, textOption } from "../command.ts";
import { findJob } from "../find-job.ts";
import { readState } from "../read-state.ts";
import { artifactTableLines } from "../render/artifact-table.ts";
import { sanitizeText } from "../render/sanitize-text.ts";
import { terminalStyleOf } from "../render/terminal-style.ts";

export async function run(context: CommandContext): Promise<number> {
  const { cwd, options, terminal } = context;
  const [id, name] = context.arguments;
  if (id === undefined) {
    throw new UserError("usage", "the ID of the job is missing", {
      hint: "Run `herdctl jobs` to list jobs and their IDs.",
    });
  }
  const { folder, artifacts } = await readState(context, (state) => listKeptArtifacts(state, id));
  if (name !== undefined) {
    const found = findArtifact(artifacts, name);
    const target = resolve(cwd, textOption(options, "output") ?? found.name);
    await copyArtifact(join(folder, found.name), target);
    if (terminal.isJson) terminal.printJson({ ...found, copied_to: target });
    else terminal.print(`Copied to ${sanitizeText(target)}.`);
    return 0;
  }
  if (terminal.isJson) terminal.printJson({ artifacts });
  else if (artifacts.length === 0) terminal.print("The job has kept no files.");
  else
    for (const line of artifactTableLines(artifacts, new Date(), terminalStyleOf(terminal)))
      terminal.print(line);
  return 0;
}

/** Reads the folder, which also contains the files of a running job. */
async function listKeptArtifacts(state: StateManager, id: string) {
  const { artifactsDir, listArtifacts } = await import("@herdctl/core/internal");
  const jobDir = state.jobDir((await findJob(state, id)).id);
  return { folder: artifactsDir(jobDir), artifacts: await listArtifacts(jobDir) };
}

function findArtifact(artifacts: Artifact[], name: string): Artifact {
  const found = artifacts.find((one) => one.name === name);
  if (found) return found;
  const names = artifacts.map((one) => sanitizeText(one.name)).join(", ");
  throw new UserError("usage", `the job has kept no file \`${name}\``, {
    hint: `Files of this job: ${names || "none"}.`,
  });
}

async function copyArtifact(from: string, to: string): Promise<void> {
  try {
    await copyFile(from, to, constants.COPYFILE_EXCL);
  } catch (cause) {
    const code = errorCode(cause);
    if (code === "EEXIST") {
      throw new UserError("file_exists", `${to} already exists`, {
        hint: "Choose another path with `--output`.",
      });
    }
    throw new UserError("usage", `${to} cannot be written (${code})`, {
      hint: "Choose another path with `--output`.",
      cause,
    });
  }
}
