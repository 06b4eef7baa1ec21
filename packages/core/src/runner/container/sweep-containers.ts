import type { ContainerManager, FoundContainer } from "../runtime/container-manager.ts";
import { fleetIdOf } from "./fleet-id.ts";
import { labels } from "./labels.ts";
import { hasMountpoints, removeMountpoints } from "./mountpoints.ts";

/**
 * Ends and removes containers of this fleet, and of nobody else: those of one job, or all whose
 * job is over. Returns their ids.
 */
export async function sweepContainers(
  manager: ContainerManager,
  stateDir: string,
  which: { jobId: string } | { isOver: (jobId: string) => boolean },
): Promise<string[]> {
  const ours = { [labels.fleet]: fleetIdOf(stateDir) };
  const found =
    "jobId" in which
      ? await manager.find({ ...ours, [labels.job]: which.jobId })
      : (await manager.find(ours)).filter((one) => which.isOver(jobOf(one)));
  for (const { id } of found) await manager.remove(id);
  await freeMountpoints(manager, stateDir);
  return found.map(({ id }) => id);
}

/** Takes placeholders out of workspaces that no container has any more, whoever's it is. */
export async function freeMountpoints(manager: ContainerManager, stateDir: string): Promise<void> {
  if (!hasMountpoints(stateDir)) return;
  const all = await manager.findLabelled(labels.workspace);
  const used = new Set(all.map((one) => one.labels[labels.workspace]));
  removeMountpoints(stateDir, (workspace) => used.has(workspace));
}

function jobOf({ labels: all }: FoundContainer): string {
  return all[labels.job] ?? "";
}
