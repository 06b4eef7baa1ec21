import { findFleetFile, StateManager, stateDirOf } from "@herdctl/core";
import { type Call, textOption } from "./command.ts";

/** Opens the state to read it, which works beside whoever writes and though the fleet file be wrong. */
export async function readState<T>(
  { options, cwd }: Call,
  read: (state: StateManager) => Promise<T>,
): Promise<T> {
  const file = findFleetFile({ config: textOption(options, "config"), cwd });
  const state = await new StateManager(stateDirOf(file)).open({ readOnly: true });
  try {
    return await read(state);
  } finally {
    await state.close();
  }
}
