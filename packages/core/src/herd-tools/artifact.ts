import { basename } from "node:path";
import { z } from "zod";
import { closedPaths, type OpenedFrom, openInWorkspace } from "../runner/workspace-file.ts";
import { keepArtifact, largestArtifact } from "../state/artifact-keeper.ts";
import { isArtifactName } from "../state/artifacts.ts";
import type { HerdDoors } from "./herd-doors.ts";
import { type HerdAnswer, type HerdTool, herdTool, refusal } from "./herd-tool.ts";

const input = z.strictObject({
  path: z.string().min(1).max(4096).describe("The file, in your working directory"),
  name: z
    .string()
    .optional()
    .describe("Its name among the kept files; the name of the file when not given"),
});

/** A file of the workspace, copied to where it stays with the job. */
export function artifactTool({ order, jobDir, stateDir }: HerdDoors): HerdTool {
  let last: Promise<unknown> = Promise.resolve();
  const from = { place: order.place, cwd: order.cwd, closed: closedPaths(order, stateDir) };
  return herdTool({
    name: "artifact",
    title: "Keep a file",
    description: `Keeps a copy of a file with this job, for the people who look at it later. The file has to lie in your working directory and have at most ${mebibytes(largestArtifact)}. A file that is kept under the same name again takes the place of the first.`,
    input,
    call(given) {
      // One at a time, so that the limits hold for calls that come together.
      const answer = last.then(() => keep(given, from, jobDir));
      last = answer.catch(() => undefined);
      return answer;
    },
  });
}

async function keep(
  { path, name = basename(path) }: z.output<typeof input>,
  from: OpenedFrom,
  jobDir: string,
): Promise<HerdAnswer> {
  if (!isArtifactName(name))
    return refusal(
      `\`${name}\` is no name for a kept file: give a \`name\` of letters, digits, spaces and \`. _ - ( ) +\`.`,
    );
  const opened = await openInWorkspace(from, path);
  if (opened.kind !== "open") return refusal(`\`${path}\` was not kept: ${opened.reason}.`);
  try {
    const kept = await keepArtifact(jobDir, name, opened.file);
    return kept.kind === "kept"
      ? { text: `Kept as \`${name}\` (${kept.bytes} bytes).` }
      : refusal(`\`${path}\` was not kept: ${kept.reason}.`);
  } finally {
    await opened.file.close();
  }
}

function mebibytes(bytes: number): string {
  return `${bytes / 1024 ** 2} MB`;
}
