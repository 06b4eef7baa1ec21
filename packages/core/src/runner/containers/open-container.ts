import { UserError } from "@herdctl/protocol";
import { type ContainerJob, fleetIdOf, shortHash } from "../../docker/container-labels.ts";
import type { ContainerManager } from "../../docker/container-manager.ts";
import type { DockerConfig } from "../../docker/docker-config.ts";
import type { EngineFacts } from "../../docker/engine.ts";
import { type HostMount, readHostMounts, writableMountsBelow } from "../../docker/host-mounts.ts";
import { inodesOf, makeMountpoints } from "../../docker/mountpoints.ts";
import type { Mount } from "../../docker/mounts.ts";
import { removeUnusedMountpoints } from "../../docker/remove-containers.ts";
import {
  type ContainerPlan,
  openContainerGit,
  type PlanContainerOptions,
  planContainer,
} from "./container-plan.ts";
import { buildContainerSpec } from "./container-spec.ts";
import { prepareVolumes } from "./named-volumes.ts";

/** The engine, configuration and fleet for which containers are created. */
export interface ContainerDeps {
  manager: ContainerManager;
  engine: EngineFacts;
  config: DockerConfig;
  stateDir: string;
}

type OpenContainerOptions = PlanContainerOptions;

export interface OpenedContainer<T> {
  id: string;
  plan: ContainerPlan;
  result: T;
}

const maxAttempts = 3;

/**
 * Creates and opens a container. If another run in the same folder ends at the same time and removes
 * a mountpoint of this one, the container is created again.
 */
export async function openContainer<T>(
  deps: ContainerDeps,
  options: OpenContainerOptions,
  job: ContainerJob,
  onCreated: (id: string) => Promise<T>,
): Promise<OpenedContainer<T>> {
  for (let attemptsLeft = maxAttempts; ; attemptsLeft -= 1) {
    const plan = await planContainer(deps.config, options, deps.stateDir);
    await openContainerGit(deps.config, options, plan, deps.stateDir);
    makeMountpoints(deps.stateDir, plan.workspace, plan.placeholders);
    const inodesBefore = inodesOf(mountSourcesOf(plan));
    try {
      const opened = await createContainer(
        deps,
        plan,
        { job, agent: options.agent.name },
        onCreated,
      );
      if (inodesOf(mountSourcesOf(plan)) === inodesBefore) return opened;
      await deps.manager.remove(opened.id);
    } catch (error) {
      if (attemptsLeft > 1 && inodesOf(mountSourcesOf(plan)) !== inodesBefore) continue;
      await removeUnusedMountpoints(deps.manager, deps.stateDir).catch(() => undefined);
      throw error;
    }
  }
}

/** Containers with the same fingerprint are interchangeable; only their names differ. */
export function containerFingerprint(
  { config, engine }: Pick<ContainerDeps, "config" | "engine">,
  plan: ContainerPlan,
): string {
  const identity = { fleet: "", agent: "", workspace: "", job: { jobId: "", attempt: 0 } };
  const spec = buildContainerSpec(config, { identity, engine, ...plan });
  return shortHash(JSON.stringify([spec, inodesOf(mountSourcesOf(plan))]));
}

async function createContainer<T>(
  { manager, engine, config, stateDir }: ContainerDeps,
  plan: ContainerPlan,
  { job, agent }: { job: ContainerJob; agent: string },
  onCreated: (id: string) => Promise<T>,
): Promise<OpenedContainer<T>> {
  const identity = { fleet: fleetIdOf(stateDir), agent, workspace: plan.workspace, job };
  const mounts = /* defence: read-only-throughout */ enforceReadOnly(
    plan.mounts,
    engine,
    readHostMounts(),
  );
  await prepareVolumes(manager, { image: engine.image.id, user: plan.user, mounts });
  const id = await manager.create(
    buildContainerSpec(config, { identity, engine, user: plan.user, mounts }),
  );
  try {
    return { id, plan, result: await onCreated(id) };
  } catch (error) {
    await manager.remove(id).catch(() => undefined);
    throw error;
  }
}

function mountSourcesOf({ mounts }: ContainerPlan): string[] {
  return mounts.filter(({ isVolume }) => !isVolume).map(({ source }) => source);
}

/**
 * A read-only bind mount does not cover file systems that are mounted below its source: before Docker
 * 25, or with an old kernel, they stay writable. If the engine does not support recursive read-only
 * mounts, the run is refused.
 */
export function enforceReadOnly(
  mounts: readonly Mount[],
  engine: Pick<EngineFacts, "version" | "recursiveReadOnly">,
  hostMountTable: readonly HostMount[],
): Mount[] {
  return mounts.map((mount) => {
    const [writableMount] =
      mount.readOnly && !mount.isVolume ? writableMountsBelow(mount.source, hostMountTable) : [];
    if (writableMount === undefined) return mount;
    if (engine.recursiveReadOnly) return { ...mount, recursive: true };
    throw new UserError(
      "workspace_unusable",
      `${writableMount} is mounted below ${mount.source}. In a container with ${mount.source} read-only, Docker ${engine.version} would leave it writable.`,
      {
        hint: `Unmount ${writableMount} or mount it read-only, give the agent another folder, or update Docker to version 25 or later.`,
      },
    );
  });
}
