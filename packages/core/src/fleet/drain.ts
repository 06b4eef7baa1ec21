import { setTimeout as delay } from "node:timers/promises";
import type { ShutdownOptions } from "./control.ts";
import type { Dispatcher } from "./dispatcher.ts";

const defaultDrain = 80_000;
const politeness = 10_000;
const lookEvery = 25;

/** Lets jobs finish, asks those that do not, and forces those that do not listen. */
export async function drain(
  dispatcher: Dispatcher,
  { drainMs = defaultDrain }: ShutdownOptions,
): Promise<void> {
  if (await emptyWithin(dispatcher, drainMs)) return;
  for (const job of dispatcher.active.values()) job.stop("interrupted");
  if (await emptyWithin(dispatcher, politeness)) return;
  for (const job of dispatcher.active.values()) job.stop("interrupted", true);
  await emptyWithin(dispatcher, politeness);
}

async function emptyWithin({ active }: Dispatcher, milliseconds: number): Promise<boolean> {
  const deadline = Date.now() + milliseconds;
  while (active.size > 0 && Date.now() < deadline) await delay(lookEvery);
  return active.size === 0;
}
