import { existsSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "@herdctl/protocol";
import {
  type MigrateOptions,
  type MigrationResult,
  migrateState,
} from "../store/migration/migrate-state.ts";
import { loadNodeIdentity } from "./node-identity.ts";

/** Copies the state of one machine into a shared store. Its sessions stay on that machine. */
export async function migrateStore(
  options: Omit<MigrateOptions, "node">,
): Promise<MigrationResult> {
  if (!existsSync(join(options.stateDir, "herd.db"))) throw noStateError();
  const { id } = await loadNodeIdentity(options.stateDir);
  return migrateState({ ...options, node: id });
}

function noStateError(): UserError {
  return new UserError("usage", "there is no state here to migrate", {
    hint: "Write `store: ${HERDCTL_STORE}` into the fleet file and start the fleet with an empty store.",
  });
}
