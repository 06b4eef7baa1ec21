import { type Stats, statSync } from "node:fs";
import { completeDocker, type DockerInput, type ResolvedAgent, type Volume } from "@herdctl/config";
import { UserError } from "@herdctl/protocol";
import { sdkClaudeVersion } from "../claude/binary.ts";

export interface DockerConfig {
  image: string;
  /** Default: the workspace's owner. */
  user: ContainerUser | undefined;
  network: ResolvedAgent["docker"]["network"];
  /** In bytes; there is no additional swap. */
  memory: number;
  /** Undefined for the default, which depends on the engine. */
  cpus: number | undefined;
  pidsLimit: number;
  /** In bytes, per file, and for the root file system if the engine supports quotas. */
  disk: number;
  readOnlyRoot: boolean;
  workspaceMode: "rw" | "ro";
  /** Additional writable folders in memory, besides `/tmp` and the home. */
  tmpfs: readonly string[];
  volumes: readonly Volume[];
  env: Readonly<Record<string, string>>;
  /** The branch of the host's repository that a run's commits advance. */
  commitBranch: string | null;
}

export interface ContainerUser {
  uid: number;
  gid: number;
}

/** `config` is the `docker` block of an agent, with or without its defaults. */
export function resolveDockerConfig(config?: DockerInput): DockerConfig {
  const docker = completeDocker(config);
  return {
    /** Evaluated when a container is created; throws if the SDK is not installed. */
    get image() {
      return docker.image ?? resolveAgentImage().name;
    },
    user: docker.user === undefined ? undefined : parseUser(docker.user),
    network: docker.network,
    memory: docker.memory,
    cpus: docker.cpus,
    pidsLimit: docker.pids_limit,
    disk: docker.disk,
    readOnlyRoot: docker.read_only,
    workspaceMode: docker.workspace_mode,
    tmpfs: docker.tmpfs,
    volumes: docker.volumes,
    env: docker.env,
    commitBranch: docker.commit_branch ?? null,
  };
}

/** The group defaults to the same number; the engine's default could be root's group. */
function parseUser(text: string): ContainerUser {
  const [uid, gid] = text.split(":").map(Number);
  return { uid: uid ?? 0, gid: gid ?? uid ?? 0 };
}

/** The user of an agent in its container: `docker.user`, or the workspace's owner, never root. */
export function containerUser(
  config: Pick<DockerConfig, "user">,
  workspace: string,
): ContainerUser {
  if (config.user) return config.user;
  const { uid, gid } = statSync(workspace);
  return /* defence: no-root-in-container */ uid === 0
    ? defaultContainerUser
    : { uid, gid: gid === 0 ? uid : gid };
}

/** Used if `docker.user` is not set and root owns the workspace. */
export const defaultContainerUser: ContainerUser = { uid: 1000, gid: 1000 };

interface AccessRequirement {
  path: string;
  /** Its name in messages, such as "the working directory". */
  label: string;
  needsWrite: boolean;
  /** Alternative fix, appended to the hint. */
  remedy: string;
}

/** Checked before the run, because an agent without access would only fail after spending money. */
export function checkAccess(user: ContainerUser, requirement: AccessRequirement): void {
  const stats = statSync(requirement.path);
  const requiredBits = (requirement.needsWrite ? 2 : 0) + 4 + (stats.isDirectory() ? 1 : 0);
  if ((permissionBits(stats, user) & requiredBits) === requiredBits) return;
  const verb = requirement.needsWrite ? "write" : "read";
  throw new UserError(
    "workspace_unusable",
    `User ${user.uid} of the container cannot ${verb} ${requirement.label} ${requirement.path}, which belongs to user ${stats.uid}.`,
    { hint: `Give it to that user (\`chown -R ${user.uid}\`), ${requirement.remedy}.` },
  );
}

/** Like the kernel: only the owner's bits apply to the owner, then the group's, then the others'. */
function permissionBits({ mode, uid, gid }: Stats, user: ContainerUser): number {
  if (uid === user.uid) return (mode >> 6) & 7;
  return gid === user.gid ? (mode >> 3) & 7 : mode & 7;
}

/** Labels of an agent image: the version of `claude`, and of the contract with its launcher. */
export const imageLabels = { contract: "herdctl.image", claude: "herdctl.claude" } as const;

/** Changes when images built earlier can no longer be launched. */
export const imageContractVersion = "1";

export interface AgentImage {
  name: string;
  /** The Claude Code version of the installed SDK. */
  claude: string;
}

/** The image that `herdctl docker build` builds; the default for agents in Docker. */
export function resolveAgentImage(): AgentImage {
  const claude = sdkClaudeVersion();
  if (claude === undefined) {
    throw new UserError(
      "sdk_missing",
      "The Agent SDK is not installed. The agent image needs it.",
      {
        hint: "Install it with `npm install @anthropic-ai/claude-agent-sdk`.",
      },
    );
  }
  return { name: `herdctl/agent:${claude}`, claude };
}
