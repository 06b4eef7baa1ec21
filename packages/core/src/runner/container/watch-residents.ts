import { setTimeout as delay } from "node:timers/promises";
import type { ContainerManager } from "../runtime/container-manager.ts";
import { inside } from "./layout.ts";
import { leftOvers, type Residents, residentsOf } from "./residents.ts";

const lookEvery = 50;
/** The program starts a moment after it was told to. */
const startingTakes = 5_000;
/** What claude itself runs for a moment, such as git, is gone by then. */
const endingTakes = 1_000;

/** Before the first prompt. Undefined when it cannot be told who is there. */
export async function findResidents(
  manager: ContainerManager,
  id: string,
): Promise<Residents | undefined> {
  const deadline = Date.now() + startingTakes;
  while (Date.now() < deadline) {
    const table = await manager.processes(id).catch(() => undefined);
    const residents = table && residentsOf(table, inside.claude);
    if (residents || !table) return residents;
    await delay(lookEvery);
  }
  return undefined;
}

/**
 * Whether a container is not for another turn: something that was started in it is still there, or
 * was killed for want of memory, which the record tells of when the container ends. Nothing in it
 * can be ended for certain but the container itself: what forks may be missed, and what is missed
 * could speak in the next turn.
 */
export async function isUsedUp(
  manager: ContainerManager,
  id: string,
  residents: Residents | undefined,
): Promise<boolean> {
  if (!residents) return true;
  try {
    const found = await Promise.all([
      manager.wasShortOfMemory(id),
      hasLeftOvers(manager, id, residents),
    ]);
    return found.includes(true);
  } catch {
    return true;
  }
}

async function hasLeftOvers(
  manager: ContainerManager,
  id: string,
  residents: Residents,
): Promise<boolean> {
  const deadline = Date.now() + endingTakes;
  for (;;) {
    if (leftOvers(await manager.processes(id), residents).length === 0) return false;
    if (Date.now() > deadline) return true;
    await delay(lookEvery);
  }
}
