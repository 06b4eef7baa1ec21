import { runTokenOf } from "../run-order.ts";
import type { ContainerManager } from "../runtime/container-manager.ts";
import { fleetIdOf } from "./fleet-id.ts";
import { type ContainerJob, labels, madeFor } from "./labels.ts";
import { hasMountpoints, removeMountpoints } from "./mountpoints.ts";

/**
 * Ends and removes containers of this fleet, and of nobody else, whose job is over. A job is on
 * record as running before its container is made, so it is asked for after the containers are.
 */
export async function sweepContainers(
  manager: ContainerManager,
  stateDir: string,
  /** Told for which run it was made; a spare may have none yet. */
  isOver: (run: ContainerJob | undefined, containerId: string) => Promise<boolean>,
): Promise<string[]> {
  const removed: string[] = [];
  for (const found of await manager.find({ [labels.fleet]: fleetIdOf(stateDir) })) {
    if (!(await isOver(madeFor(found), found.id))) continue;
    await manager.remove(found.id);
    removed.push(found.id);
  }
  await freeMountpoints(manager, stateDir);
  return removed;
}

/** The one that was made for an attempt of the job, and the one that a turn of it went on in. */
export async function removeContainersOf(
  manager: ContainerManager,
  stateDir: string,
  jobId: string,
  runTokens: readonly string[] = [],
): Promise<string[]> {
  return await sweepContainers(
    manager,
    stateDir,
    async (run) =>
      run !== undefined && (run.jobId === jobId || runTokens.includes(runTokenOf(run))),
  );
}

/** Takes placeholders out of workspaces that no container has any more, whoever's it is. */
export async function freeMountpoints(manager: ContainerManager, stateDir: string): Promise<void> {
  if (!hasMountpoints(stateDir)) return;
  const all = await manager.findLabelled(labels.workspace);
  const used = new Set(all.map((one) => one.labels[labels.workspace]));
  removeMountpoints(stateDir, (workspace) => used.has(workspace));
}
