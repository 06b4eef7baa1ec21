import type { StateManager } from "@herdctl/core";
import { findFleetFile, stateDirOf } from "@herdctl/core/light";
import { type Call, textOption } from "./command.ts";

/** Opens the state to read it, which works beside whoever writes and though the fleet file be wrong. */
export async function readState<T>(
  { options, cwd }: Call,
  read: (state: StateManager) => Promise<T>,
): Promise<T> {
  const file = findFleetFile({ config: textOption(options, "config"), cwd });
  // A fleet that runs makes this unneeded, and the database takes its time to load.
  const { StateManager } = await import("@herdctl/core/state");
  const state = await new StateManager(stateDirOf(file)).open({ readOnly: true });
  try {
    return await read(state);
  } finally {
    await state.close();
  }
}
