import type { Environment, ResolvedAgent } from "@herdctl/config";
import { UserError } from "@herdctl/protocol";
import type Docker from "dockerode";
import { z } from "zod";
import {
  type AgentImage,
  imageContractVersion,
  imageLabels,
  resolveAgentImage,
} from "../docker/agent-image.ts";
import { connectEngine, type ImageInfo, readImageInfo } from "../docker/engine.ts";
import { engineAddress } from "../docker/engine-address.ts";
import { hasDiskQuota } from "../docker/engine-facts.ts";
import { findMount, type HostMount, readHostMounts } from "../docker/host-mounts.ts";
import { type Finding, failed, notChecked, ok, warning } from "./check.ts";
import { selfTest } from "./self-test/self-test.ts";

type EngineConnection =
  | { kind: "reached"; engine: Docker; checks: Finding[] }
  | { kind: "unreachable"; error: UserError };

/** Connects to the engine, and checks whether it can enforce the limits of these agents' containers. */
async function connectAndCheckEngine(
  env: Environment,
  containerAgents: readonly ResolvedAgent[],
): Promise<EngineConnection> {
  try {
    const engine = await connectEngine(env);
    const { socketPath, source } = engineAddress(env);
    const { Version: version } = await engine.version();
    const engineFinding = ok("engine", `Docker ${version} responds at ${socketPath} (${source}).`);
    const info = engineInfoSchema.parse(await engine.info());
    const writable = containerAgents
      .filter(({ docker }) => !docker.read_only)
      .map(({ name }) => name);
    const disk = evaluateDiskQuota(info, readHostMounts(), writable);
    const checks = [engineFinding, ...checkLimits(info), disk];
    return { kind: "reached", engine, checks };
  } catch (error) {
    if (error instanceof UserError) return { kind: "unreachable", error };
    throw error;
  }
}

const engineInfoSchema = z.object({
  MemoryLimit: z.boolean().optional(),
  SwapLimit: z.boolean().optional(),
  PidsLimit: z.boolean().optional(),
  CpuCfsQuota: z.boolean().optional(),
  SecurityOptions: z.array(z.string()).nullish(),
  Driver: z.string().default(""),
  DockerRootDir: z.string().default(""),
});

type EngineInfo = z.infer<typeof engineInfoSchema>;

const cgroupHint = "Enable the memory and pids controllers of the kernel's control groups.";

function checkLimits(info: EngineInfo): Finding[] {
  const missing = [
    info.MemoryLimit === true ? [] : ["memory"],
    info.PidsLimit === true ? [] : ["the number of processes"],
  ].flat();
  const limits =
    missing.length > 0
      ? failed("engine limits", `The engine cannot limit ${missing.join(" and ")}.`, cgroupHint)
      : info.SwapLimit === true
        ? ok("engine limits", "Memory, swap and the number of processes can be limited.")
        : warning(
            "engine limits",
            "Memory can be limited, but not swap: a container may use more than its `memory`.",
            "Start the kernel with `swapaccount=1`, or disable swap.",
          );
  const isFiltered = info.SecurityOptions?.some((option) => option.includes("seccomp"));
  if (isFiltered) return [limits];
  const hint = "Use an engine and a kernel with seccomp.";
  return [limits, failed("engine seccomp", "The engine does not filter system calls.", hint)];
}

/** Without a quota, the size of single files and the free space of the disk are still limited. */
export function evaluateDiskQuota(
  { Driver: driver, DockerRootDir: folder }: Pick<EngineInfo, "Driver" | "DockerRootDir">,
  mounts: readonly HostMount[],
  agentsWithWritableRoot: readonly string[],
): Finding {
  const storage = `${driver} on ${findMount(folder, mounts)?.type ?? "an unknown file system"}`;
  if (hasDiskQuota(driver, folder, mounts)) {
    return ok("engine disk", `A writable root file system can be limited by a quota (${storage}).`);
  }
  const noQuotaText = `The engine has no disk quota (${storage})`;
  if (agentsWithWritableRoot.length === 0) {
    return ok(
      "engine disk",
      `${noQuotaText}: \`docker.disk\` limits single files, not their total size.`,
    );
  }
  return warning(
    "engine disk",
    `${noQuotaText}: the total size of files that ${agentsWithWritableRoot.join(", ")} can write to the root file system is not limited.`,
    "Remove `read_only: false`, or move Docker's folder to XFS with `prjquota`, btrfs or zfs.",
  );
}

/** Checks the images that agents use, or the default image. */
async function checkImages(engine: Docker, agents: readonly ResolvedAgent[]): Promise<Finding[]> {
  const defaultImage = resolveAgentImage();
  const names = new Set(agents.map(({ docker }) => docker.image ?? defaultImage.name));
  if (names.size === 0) return await checkDefaultImage(engine, defaultImage);
  return await Promise.all(
    [...names].map(async (name) =>
      evaluateImage(name, await readImageInfo(engine, name), defaultImage.claude),
    ),
  );
}

/** No agent uses the default image yet, so it may be missing. */
async function checkDefaultImage(engine: Docker, { name, claude }: AgentImage): Promise<Finding[]> {
  const info = await readImageInfo(engine, name);
  if (info.kind === "present") return [evaluateImage(name, info, claude)];
  const message = "There is no agent image yet, and no agent that runs in a container.";
  return [notChecked("image", message, "Run `herdctl docker build` to build one.")];
}

function evaluateImage(name: string, info: ImageInfo, claude: string): Finding {
  const build = "Run `herdctl docker build`";
  if (info.kind === "missing") {
    return failed("image", `There is no image \`${name}\` on this machine.`, `${build}.`);
  }
  const { [imageLabels.contract]: contract, [imageLabels.claude]: imageClaudeVersion } =
    info.labels;
  if (contract !== imageContractVersion) {
    const message = `\`${name}\` is not an image that this herdctl can use.`;
    return failed("image", message, `${build} to build one, or base your image on it.`);
  }
  if (imageClaudeVersion === claude)
    return ok("image", `\`${name}\` contains Claude Code ${claude}.`);
  return warning(
    "image",
    `\`${name}\` contains Claude Code ${imageClaudeVersion}, but this herdctl was built for ${claude}.`,
    `${build} again with the same options.`,
  );
}

interface ContainerCheckOptions {
  env: Environment;
  stateDir: string;
  agents: readonly ResolvedAgent[];
  /** Called before an agent's container is tested. */
  onSelfTest?: (agent: string) => void;
  signal: AbortSignal;
}

/** Checks whether agents in containers can work on this machine and are isolated. Yields findings one by one. */
export async function* checkContainers(options: ContainerCheckOptions): AsyncGenerator<Finding> {
  const containerAgents = options.agents.filter(({ docker }) => docker.enabled);
  const connection = await connectAndCheckEngine(options.env, containerAgents);
  if (connection.kind === "unreachable") {
    const { message, hint } = connection.error;
    // Without agents in containers, no engine is needed.
    yield containerAgents.length > 0
      ? failed("engine", message, hint)
      : notChecked("engine", `${message} Only agents in containers need it.`);
    return;
  }
  yield* connection.checks;
  yield* await checkImages(connection.engine, containerAgents);
  for (const agent of containerAgents) {
    if (options.signal.aborted) return;
    options.onSelfTest?.(agent.name);
    yield* await selfTest(agent, options);
  }
}
