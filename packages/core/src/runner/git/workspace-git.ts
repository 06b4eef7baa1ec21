import { join } from "node:path";
import { UserError } from "../../errors/user-error.ts";
import { fingerprint } from "../container/labels.ts";
import { inside } from "../container/layout.ts";
import type { Mount } from "../container/mounts.ts";
import { emptyThings, kindOf } from "../container/workspace-facts.ts";
import { listConfig } from "./config-list.ts";
import { gitLayout } from "./git-record.ts";
import {
  enclosingGitDir,
  type FoundRepository,
  findRepository,
  type HostRepository,
  latin1ToPath,
  looksBare,
} from "./host-repository.ts";
import { filesNamedByGit, type NamedFile } from "./named-files.ts";
import { objectsInside } from "./private-git.ts";
import { safeGit } from "./safe-git.ts";
import { type GitTraps, scanForTraps } from "./trap-scan.ts";

/** What is known of a workspace and git before its container is made. */
export interface WorkspaceGit {
  found: FoundRepository;
  /** To be mounted read-only. */
  readOnly: NamedFile[];
  /** Where nested repositories and the like lie already. */
  traps: GitTraps;
  /** What stands in for `.git` where the operator has no repository: the agent's own. */
  ownDir: string;
  warnings: string[];
}

export interface GitPlace {
  workspace: string;
  agent: string;
  stateDir: string;
  /** Hidden from the container, and not searched. */
  skip: readonly string[];
}

const maxNested = 64;

export async function inspectWorkspaceGit(
  place: GitPlace,
  knownTraps?: GitTraps,
): Promise<WorkspaceGit> {
  const { workspace, agent, stateDir, skip } = place;
  const found = await findRepository(workspace);
  if (found.kind !== "found" && looksBare(workspace)) throw bareWorkspace(workspace);
  const traps = knownTraps ?? (await scanForTraps(workspace, skip));
  const named = await namedFiles(workspace, found);
  const links = found.kind === "found" ? await submodulePaths(workspace, found.repository) : [];
  const nested = [...new Set([...traps.nested, ...links])];
  return {
    found,
    readOnly: [
      ...nested.slice(0, maxNested).map((path): NamedFile => {
        return { path: join(workspace, path, ".git"), kind: "folder" };
      }),
      ...named.files,
    ],
    traps,
    ownDir: join(stateDir, "docker-git/own", `${agent}-${fingerprint(workspace)}`),
    warnings: [
      ...named.warnings,
      ...(found.kind === "unusable" ? [`git does not work in the container: ${found.why}`] : []),
      ...(nested.length > maxNested ? [tooManyNested] : []),
    ],
  };
}

const tooManyNested = `only ${maxNested} of the nested repositories are protected: give the agent a smaller workspace`;

/** An enclosing repository's configuration may name files of a workspace below it as well. */
async function namedFiles(workspace: string, found: FoundRepository) {
  if (found.kind === "found") {
    const { gitDir, config } = found.repository;
    return await filesNamedByGit(workspace, gitDir, config);
  }
  const gitDir = enclosingGitDir(workspace);
  if (gitDir === undefined || found.kind === "unusable") return { files: [], warnings: [] };
  const config = await listConfig({ gitDir, withUserConfig: true }).catch(() => []);
  return await filesNamedByGit(workspace, gitDir, config);
}

/** Git on the host looks into these folders by itself, whether or not something is there yet. */
async function submodulePaths(workspace: string, { gitDir }: HostRepository): Promise<string[]> {
  const listed = await safeGit(["ls-files", "--stage", "-z"], {
    gitDir,
    cwd: workspace,
    env: { GIT_WORK_TREE: workspace },
  });
  const entries = listed.split("\0").filter((entry) => entry.startsWith("160000 "));
  return entries.map((entry) => latin1ToPath(entry.slice(entry.indexOf("\t") + 1)));
}

/** How the container sees git: the mounts beside the workspace's own. */
export function gitMounts(
  { found, ownDir }: WorkspaceGit,
  { workspace, stateDir }: Pick<GitPlace, "workspace" | "stateDir">,
  folder: string | undefined,
): Mount[] {
  const target = join(inside.workspace, ".git");
  const isFile = kindOf(join(workspace, ".git")) === "file";
  const empty = emptyThings(stateDir);
  // Without a folder for a private one, and where the repository cannot be used, there is none.
  if (found.kind === "unusable" || (found.kind === "found" && folder === undefined)) {
    return [{ source: isFile ? empty.file : empty.folder, target, readOnly: true }];
  }
  if (found.kind === "none" || folder === undefined) {
    return [{ source: ownDir, target, readOnly: false }];
  }
  const { privateDir, gitFile, noAlternates } = gitLayout(folder);
  const own: Mount[] = isFile
    ? [
        { source: gitFile, target, readOnly: true },
        { source: privateDir, target: inside.git, readOnly: false },
      ]
    : [{ source: privateDir, target, readOnly: false }];
  return [...own, ...objectMounts(found.repository, noAlternates)];
}

/** What they borrow from elsewhere is a mount too; the host's paths mean nothing in there. */
function objectMounts({ objects }: HostRepository, noAlternates: string): Mount[] {
  return objects.flatMap((source, index) => {
    const target = objectsInside(index);
    const alternates = join(source, "info/alternates");
    const hidden: Mount = {
      source: noAlternates,
      target: join(target, "info/alternates"),
      readOnly: true,
    };
    return [{ source, target, readOnly: true }, ...(kindOf(alternates) === "file" ? [hidden] : [])];
  });
}

function bareWorkspace(workspace: string): UserError {
  return new UserError(
    "workspace_unusable",
    `${workspace} is a bare repository, whose hooks and configuration the container could write.`,
    {
      hint: "Give the agent a clone of it (`working_directory: { repo: … }`), or use `workspace_mode: ro`. If a run has made HEAD, objects and refs there, delete them.",
    },
  );
}
