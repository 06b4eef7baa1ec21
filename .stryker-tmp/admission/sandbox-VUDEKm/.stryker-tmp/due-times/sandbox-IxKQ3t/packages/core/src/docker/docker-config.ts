import type { ResolvedAgent, Volume } from "@herdctl/config";
import { resolveAgentImage } from "./agent-image.ts";

/** The configuration of an agent's containers. */
export interface DockerConfig {
  agent: string;
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

export function resolveDockerConfig({ name, docker }: ResolvedAgent): DockerConfig {
  return {
    agent: name,
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
