import type { ResolvedAgent } from "../../config/resolve.ts";
import type { Volume } from "../../config/schema/docker.ts";
import { agentImage } from "../container/agent-image.ts";

/** Everything that is decided of an agent's containers before one of them is needed. */
export interface DockerConfig {
  agent: string;
  image: string;
  /** The workspace's owner when not given. */
  user: ContainerUser | undefined;
  network: ResolvedAgent["docker"]["network"];
  /** In bytes; swap adds nothing to it. */
  memory: number;
  /** Undefined for the default, which depends on the engine. */
  cpus: number | undefined;
  pidsLimit: number;
  /** In bytes, for each file, and for the root file system where the engine has quotas. */
  disk: number;
  readOnlyRoot: boolean;
  workspaceMode: "rw" | "ro";
  /** Writable places in memory beside `/tmp` and the home. */
  tmpfs: readonly string[];
  volumes: readonly Volume[];
  env: Readonly<Record<string, string>>;
  /** The branch of the host's repository that commits of a run move forward. */
  commitBranch: string | null;
}

export interface ContainerUser {
  uid: number;
  gid: number;
}

export function resolveDockerConfig({ name, docker }: ResolvedAgent): DockerConfig {
  return {
    agent: name,
    /** Asked for when a container is made: where no SDK is installed, that says so. */
    get image() {
      return docker.image ?? agentImage().name;
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

/** Without a group it is the one of the same number, never the engine's choice, which may be root's. */
function parseUser(text: string): ContainerUser {
  const [uid, gid] = text.split(":").map(Number);
  return { uid: uid ?? 0, gid: gid ?? uid ?? 0 };
}
