import { setTimeout as delay } from "node:timers/promises";
import type { ShutdownOptions } from "./control.ts";
import type { Dispatcher } from "./dispatcher.ts";

const defaultDrain = 80_000;
const politeness = 10_000;
const lookEvery = 25;

/** Lets jobs finish, asks those that do not, and forces those that do not listen, or all in a hurry. */
export async function drain(
  dispatcher: Dispatcher,
  { drainMs = defaultDrain }: ShutdownOptions,
  hurry: AbortSignal,
): Promise<void> {
  if (await emptyWithin(dispatcher, drainMs, hurry)) return;
  for (const job of dispatcher.active.values()) job.stop("interrupted");
  if (await emptyWithin(dispatcher, politeness, hurry)) return;
  for (const job of dispatcher.active.values()) job.stop("interrupted", true);
  await emptyWithin(dispatcher, politeness);
}

async function emptyWithin(
  { active }: Dispatcher,
  milliseconds: number,
  hurry?: AbortSignal,
): Promise<boolean> {
  const deadline = Date.now() + milliseconds;
  while (active.size > 0 && Date.now() < deadline && !hurry?.aborted) await delay(lookEvery);
  return active.size === 0;
}
