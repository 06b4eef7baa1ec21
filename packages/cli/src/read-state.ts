import type { StateManager } from "@herdctl/core";
import { findFleetFile, stateDirOf } from "@herdctl/core/light";
import { type Call, textOption } from "./command.ts";
import { storeOf } from "./store-of.ts";

/**
 * Opens the state to read it, which works beside whoever writes; where the state is the fleet's own,
 * though its file be wrong.
 */
export async function readState<T>(
  call: Call,
  read: (state: StateManager) => Promise<T>,
): Promise<T> {
  const { options, cwd } = call;
  const file = findFleetFile({ config: textOption(options, "config"), cwd });
  const store = await storeOf(call);
  // A fleet that runs makes this unneeded, and the database takes its time to load.
  const { StateManager } = await import("@herdctl/core/state");
  const state = await new StateManager(stateDirOf(file)).open({ readOnly: true, store });
  try {
    return await read(state);
  } finally {
    await state.close();
  }
}
