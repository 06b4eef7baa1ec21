import { existsSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../../errors/user-error.ts";
import {
  type Migrated,
  type MigrateOptions,
  migrateState,
} from "../../state/migrate/migrate-state.ts";
import { nodeIdentity } from "./node-identity.ts";

/** Brings a state of one machine into a store that several share; its sessions stay that machine's. */
export async function migrateStore(options: Omit<MigrateOptions, "node">): Promise<Migrated> {
  if (!existsSync(join(options.stateDir, "herd.db"))) throw nothingThere();
  const { id } = await nodeIdentity(options.stateDir);
  return migrateState({ ...options, node: id });
}

function nothingThere(): UserError {
  return new UserError("usage", "there is no state here that could be moved", {
    hint: "Write `store: ${HERDCTL_STORE}` into the fleet file and start: the store begins empty.",
  });
}
