import { isAlive, type ProcessIdentity } from "../state/process-identity.ts";

const lookEvery = 200;

/** A process that is not our child tells nobody when it ends. Whoever has left it must not stay up for it. */
export async function gone(process: ProcessIdentity, left: AbortSignal): Promise<void> {
  while (!left.aborted && isAlive(process))
    await new Promise((resolve) => setTimeout(resolve, lookEvery));
}

export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) =>
    signal.addEventListener("abort", () => resolve(), { once: true }),
  );
}
