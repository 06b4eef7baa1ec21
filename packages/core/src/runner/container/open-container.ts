import type { ContainerManager } from "../runtime/container-manager.ts";
import type { DockerConfig } from "../runtime/docker-config.ts";
import type { EngineFacts } from "./engine-facts.ts";
import { fleetIdOf } from "./fleet-id.ts";
import { hostMounts } from "./host-mounts.ts";
import { type ContainerIdentity, fingerprint } from "./labels.ts";
import { inodesOf, makeMountpoints } from "./mountpoints.ts";
import { type ContainerPlan, type PlanOptions, planContainer, prepareGit } from "./plan.ts";
import { readOnlyThroughout } from "./read-only-mounts.ts";
import { containerSpec } from "./spec.ts";
import { freeMountpoints } from "./sweep-containers.ts";

/** On which engine and for which fleet containers are made. */
export interface ContainerSite {
  manager: ContainerManager;
  engine: EngineFacts;
  config: DockerConfig;
  stateDir: string;
}

export type GivenToContainer = PlanOptions;

export interface OpenedContainer<T> {
  id: string;
  plan: ContainerPlan;
  begun: T;
}

const tries = 3;

/**
 * Makes a container and begins with it. The end of another run in the same folder may take a
 * mountpoint away from under this one; then it is made anew.
 */
export async function openContainer<T>(
  site: ContainerSite,
  given: GivenToContainer,
  who: ContainerIdentity["who"],
  begin: (id: string) => Promise<T>,
): Promise<OpenedContainer<T>> {
  for (let left = tries; ; left -= 1) {
    const plan = await planContainer(site.config, given, site.stateDir);
    await prepareGit(site.config, given, plan, site.stateDir);
    makeMountpoints(site.stateDir, plan.workspace, plan.placeholders);
    const before = inodesOf(sourcesOf(plan));
    try {
      const opened = await makeOne(site, plan, who, begin);
      if (inodesOf(sourcesOf(plan)) === before) return opened;
      await site.manager.remove(opened.id);
    } catch (error) {
      if (left > 1 && inodesOf(sourcesOf(plan)) !== before) continue;
      await freeMountpoints(site.manager, site.stateDir).catch(() => undefined);
      throw error;
    }
  }
}

/** Two containers with the same print can stand for each other: nothing differs but their names. */
export function printOf(
  { config, engine }: Pick<ContainerSite, "config" | "engine">,
  plan: ContainerPlan,
): string {
  const identity = { fleet: "", agent: "", workspace: "", who: { spare: "" } };
  const spec = containerSpec(config, { identity, engine, ...plan });
  return fingerprint(JSON.stringify([spec, inodesOf(sourcesOf(plan))]));
}

async function makeOne<T>(
  { manager, engine, config, stateDir }: ContainerSite,
  plan: ContainerPlan,
  who: ContainerIdentity["who"],
  begin: (id: string) => Promise<T>,
): Promise<OpenedContainer<T>> {
  const { agent } = config;
  const identity = { fleet: fleetIdOf(stateDir), agent, workspace: plan.workspace, who };
  const mounts = readOnlyThroughout(plan.mounts, engine, hostMounts());
  const id = await manager.create(
    containerSpec(config, { identity, engine, user: plan.user, mounts }),
  );
  try {
    return { id, plan, begun: await begin(id) };
  } catch (error) {
    await manager.remove(id).catch(() => undefined);
    throw error;
  }
}

function sourcesOf({ mounts }: ContainerPlan): string[] {
  return mounts.map(({ source }) => source);
}
