import { UserError } from "../../errors/user-error.ts";
import type { ErrandAnswer, ErrandKind } from "../../state/errand.ts";
import type { FleetParts } from "../parts.ts";
import { delegate } from "./delegate.ts";
import { type Errand, refused } from "./errand.ts";
import { runScheduleErrand } from "./schedule.ts";

const kinds: Record<ErrandKind, (parts: FleetParts, errand: Errand) => Promise<ErrandAnswer>> = {
  delegate,
  schedule: runScheduleErrand,
};

/** The answer to an errand; undefined when this fleet process has none, and the next one is to give it. */
export async function runErrand(
  parts: FleetParts,
  errand: Errand,
): Promise<ErrandAnswer | undefined> {
  const { signal, stopping, asked } = errand;
  await Promise.race([parts.dispatcher.opened, aborted(signal)]);
  // A fleet that takes on nothing more leaves it to the next.
  if (!parts.dispatcher.isOpen || signal.aborted || stopping.aborted) return undefined;
  try {
    return await kinds[asked.kind](parts, errand);
  } catch (error) {
    if (signal.aborted) return undefined;
    if (error instanceof UserError) return refused(`${error.message}. ${error.hint}`);
    parts.context.trouble(`${errand.jobId}: an errand failed`, error);
    return refused("The fleet could not do this.");
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
    if (signal.aborted) resolve();
  });
}
