import { join } from "node:path";
import { UserError } from "@herdctl/protocol";
import { shortHash } from "../docker/container-labels.ts";
import type { Mount } from "../docker/mounts.ts";
import { ensureEmptyEntries, kindOf } from "../docker/workspace-facts.ts";
import { containerPaths } from "../lib/container-layout.ts";
import { filesNamedByGit, type NamedFile } from "./files-named-by-git.ts";
import { gitLayout } from "./git-record.ts";
import {
  enclosingGitDir,
  findRepository,
  type HostRepository,
  isBareRepository,
  latin1ToPath,
  type RepositoryLookup,
} from "./host-repository.ts";
import { containerObjectsPath } from "./private-git.ts";
import { listConfig, safeGit } from "./safe-git.ts";
import { type GitTraps, scanForTraps } from "./scan-git-traps.ts";

/** Facts about git in a workspace, read before its container is created. */
export interface WorkspaceGit {
  found: RepositoryLookup;
  /** Files to mount read-only. */
  readOnlyFiles: NamedFile[];
  /** Nested repositories and similar traps that already exist. */
  traps: GitTraps;
  /** The agent's own repository, mounted as `.git` if the operator has none. */
  agentGitDir: string;
  warnings: string[];
}

export interface WorkspaceLocation {
  workspace: string;
  agent: string;
  stateDir: string;
  /** Paths that are hidden from the container and not scanned. */
  skip: readonly string[];
}

const maxNested = 64;

export async function inspectWorkspaceGit(
  location: WorkspaceLocation,
  knownTraps?: GitTraps,
): Promise<WorkspaceGit> {
  const { workspace, agent, stateDir, skip } = location;
  const found = await findRepository(workspace);
  if (found.kind !== "found" && isBareRepository(workspace)) throw bareWorkspaceError(workspace);
  const traps = knownTraps ?? (await scanForTraps(workspace, skip));
  const named = await namedFiles(workspace, found);
  const submodules =
    found.kind === "found" ? await submodulePaths(workspace, found.repository) : [];
  const nested = [...new Set([...traps.nested, ...submodules])];
  return {
    found,
    readOnlyFiles: [
      ...nested
        .slice(/* defence: nested-repositories-read-only */ 0, maxNested)
        .map((path): NamedFile => {
          return { path: join(workspace, path, ".git"), kind: "folder" };
        }),
      ...named.files,
    ],
    traps,
    agentGitDir: join(stateDir, "docker-git/own", `${agent}-${shortHash(workspace)}`),
    warnings: [
      ...named.warnings,
      ...(found.kind === "unusable" ? [`git does not work in the container: ${found.why}`] : []),
      ...(nested.length > maxNested ? [tooManyNested] : []),
    ],
  };
}

const tooManyNested = `only ${maxNested} of the nested repositories are protected: give the agent a smaller workspace`;

/** The configuration of an enclosing repository may refer to files of the workspace as well. */
async function namedFiles(workspace: string, found: RepositoryLookup) {
  if (found.kind === "found") {
    const { gitDir, config } = found.repository;
    return await filesNamedByGit(workspace, gitDir, config);
  }
  const gitDir = enclosingGitDir(workspace);
  if (gitDir === undefined || found.kind === "unusable") return { files: [], warnings: [] };
  const config = await listConfig({ gitDir, withUserConfig: true }).catch(() => []);
  return await filesNamedByGit(workspace, gitDir, config);
}

/** Submodule folders, which git on the host reads by itself, even if they do not exist yet. */
async function submodulePaths(workspace: string, { gitDir }: HostRepository): Promise<string[]> {
  const listed = await safeGit(["ls-files", "--stage", "-z"], {
    gitDir,
    cwd: workspace,
    env: { GIT_WORK_TREE: workspace },
  });
  const entries = listed.split("\0").filter((entry) => entry.startsWith("160000 "));
  return entries.map((entry) => latin1ToPath(entry.slice(entry.indexOf("\t") + 1)));
}

/** The mounts for git in the container. */
// defence: private-git-folder
export function gitMounts(
  { found, agentGitDir }: WorkspaceGit,
  { workspace, stateDir }: Pick<WorkspaceLocation, "workspace" | "stateDir">,
  folder: string | undefined,
): Mount[] {
  const target = join(containerPaths.workspace, ".git");
  const isFile = kindOf(join(workspace, ".git")) === "file";
  const emptyMountSources = ensureEmptyEntries(stateDir);
  // An unusable repository, or no folder for a private git directory: `.git` is empty.
  if (found.kind === "unusable" || (found.kind === "found" && folder === undefined)) {
    return [
      {
        source: isFile ? emptyMountSources.file : emptyMountSources.folder,
        target,
        readOnly: true,
      },
    ];
  }
  if (found.kind === "none" || folder === undefined) {
    return [{ source: agentGitDir, target, readOnly: false }];
  }
  const { privateDir, gitFile, noAlternates } = gitLayout(folder);
  const privateMounts: Mount[] = isFile
    ? [
        { source: gitFile, target, readOnly: true },
        { source: privateDir, target: containerPaths.git, readOnly: false },
      ]
    : [{ source: privateDir, target, readOnly: false }];
  return [...privateMounts, ...objectMounts(found.repository, noAlternates)];
}

/** Alternates are mounted as well, because the host's paths do not exist in the container. */
function objectMounts({ objects }: HostRepository, noAlternates: string): Mount[] {
  return objects.flatMap((source, index) => {
    const target = containerObjectsPath(index);
    const alternates = join(source, "info/alternates");
    const hideAlternates: Mount = {
      source: noAlternates,
      target: join(target, "info/alternates"),
      readOnly: true,
    };
    return [
      { source, target, readOnly: true },
      ...(kindOf(alternates) === "file" ? [hideAlternates] : []),
    ];
  });
}

function bareWorkspaceError(workspace: string): UserError {
  return new UserError(
    "workspace_unusable",
    `${workspace} is a bare repository. The container could change its hooks and configuration.`,
    {
      hint: "Give the agent a clone of it (`working_directory: { repo: … }`), or use `workspace_mode: ro`. If a run has created HEAD, objects and refs there, delete them.",
    },
  );
}
