import { basename } from "node:path";
import { Mutex } from "@herdctl/protocol";
import { z } from "zod";
import { isArtifactName } from "../../store/files/artifacts.ts";
import { maxArtifactBytes, storeArtifact } from "../../store/files/store-artifact.ts";
import {
  listClosedPaths,
  openWorkspaceFile,
  type WorkspaceAccess,
} from "../execution/workspace-file.ts";
import {
  type AgentTool,
  type AgentToolContext,
  defineAgentTool,
  refuse,
  type ToolAnswer,
} from "./agent-tool.ts";

const input = z.strictObject({
  path: z.string().min(1).max(4096).describe("The file, in your working directory"),
  name: z.string().optional().describe("Name of the kept copy (default: the name of the file)"),
});

/** Copies a file of the workspace into the job's folder. */
export function artifactTool({ order, jobDir, stateDir }: AgentToolContext): AgentTool {
  const mutex = new Mutex();
  const from = {
    place: order.place,
    cwd: order.cwd,
    closedPaths: listClosedPaths(order, stateDir),
  };
  return defineAgentTool({
    name: "artifact",
    title: "Keep a file",
    description: `Keeps a copy of a file with this job, for people who look at the job later. The file must be in your working directory and at most ${formatMegabytes(maxArtifactBytes)} in size. A second file with the same name replaces the first.`,
    input,
    call(request) {
      // One at a time, so that the limits also hold for concurrent calls.
      return mutex.runExclusive(() => keepFile(request, from, jobDir));
    },
  });
}

async function keepFile(
  { path, name = basename(path) }: z.output<typeof input>,
  access: WorkspaceAccess,
  jobDir: string,
): Promise<ToolAnswer> {
  if (!isArtifactName(name))
    return refuse(
      `\`${name}\` is not a valid name for a kept file. Use a \`name\` of letters, digits, spaces and \`. _ - ( ) +\`.`,
    );
  const opened = await openWorkspaceFile(access, path);
  if (opened.kind !== "open") return refuse(`\`${path}\` was not kept: ${opened.reason}.`);
  try {
    const kept = await storeArtifact(jobDir, name, opened.file);
    return kept.kind === "kept"
      ? { text: `Kept as \`${name}\` (${kept.bytes} bytes).` }
      : refuse(`\`${path}\` was not kept: ${kept.reason}.`);
  } finally {
    await opened.file.close();
  }
}

function formatMegabytes(bytes: number): string {
  return `${bytes / 1024 ** 2} MB`;
}
