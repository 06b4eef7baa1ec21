import type { LoadedFleet } from "../config/load.ts";
import { type Actor, identities } from "../state/identity.ts";
import type { StateManager } from "../state/state-manager.ts";
import type { Audit } from "./audit.ts";
import type { ShutdownOptions } from "./control.ts";
import { configPrint } from "./nodes/config-print.ts";

/** What this process does without being asked by anyone else. */
export const ownActor: Actor = { identity: identities.system, origin: "process" };

/** The user that runs this process, or a program that embeds the fleet. */
export function processActor(): Actor {
  return { identity: identities.user(), origin: "process" };
}

export interface AuditedFleet {
  audit: Audit;
  state: StateManager;
  loaded: LoadedFleet;
  version: string;
  node: string | undefined;
}

export async function recordStart(fleet: AuditedFleet): Promise<void> {
  const { audit, version, node } = fleet;
  const details = { version, pid: process.pid, node: node ?? null };
  await audit.record(processActor(), { action: "fleet.start", details });
  await recordConfig(fleet, processActor());
}

/** Once for each configuration that comes into force, by its hash. */
export async function recordConfig(
  { audit, state, loaded }: Pick<AuditedFleet, "audit" | "state" | "loaded">,
  actor: Actor,
): Promise<void> {
  const config_hash = configPrint(loaded);
  const { records } = await state.audit.list({ action: "config.change", limit: 1 });
  if (records[0]?.details.config_hash === config_hash) return;
  await audit.record(actor, { action: "config.change", details: { config_hash } });
}

/** A fleet stops also when this cannot be recorded. */
export async function recordStop(
  audit: Audit,
  actor: Actor,
  { detach = false }: ShutdownOptions,
): Promise<void> {
  await audit.flush();
  await audit.perform(actor, { action: "fleet.stop", details: { detach } }, async () => undefined);
}
