import type { StateManager } from "@herdctl/core";
import { findFleetFile, stateDirOf } from "@herdctl/protocol";
import { type CommandContext, textOption } from "./command.ts";
import { readStoreUrl } from "./read-store-url.ts";

/**
 * Opens the state read-only, which is safe while another process writes to it. The embedded store
 * can be read even if the fleet file has errors.
 */
export async function readState<T>(
  context: CommandContext,
  read: (state: StateManager) => Promise<T>,
): Promise<T> {
  const { options, cwd } = context;
  const file = findFleetFile({ config: textOption(options, "config"), cwd });
  const store = await readStoreUrl(context);
  // Loaded here because the database is slow to load and commands of a running fleet do not need it.
  const { StateManager } = await import("@herdctl/core/internal");
  const state = await new StateManager(stateDirOf(file)).open({ readOnly: true, store });
  try {
    return await read(state);
  } finally {
    await state.close();
  }
}
