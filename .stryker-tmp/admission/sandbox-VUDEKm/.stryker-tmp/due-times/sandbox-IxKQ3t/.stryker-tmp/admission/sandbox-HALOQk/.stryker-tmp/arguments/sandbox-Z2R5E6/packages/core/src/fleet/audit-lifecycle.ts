import type { LoadedFleet } from "@herdctl/config";
import type { ShutdownOptions } from "@herdctl/protocol";
import { configHash } from "../cluster/config-hash.ts";
import { type Actor, identities } from "../store/model/identity.ts";
import type { StateManager } from "../store/state-manager.ts";
import type { AuditLogWriter } from "./audit-log-writer.ts";

/** For actions of this process that no one requested. */
export const systemActor: Actor = { identity: identities.system, origin: "process" };

/** The user that runs this process, or a program that embeds the fleet. */
export function processActor(): Actor {
  return { identity: identities.user(), origin: "process" };
}

export interface FleetAuditContext {
  audit: AuditLogWriter;
  state: StateManager;
  loaded: LoadedFleet;
  version: string;
  node: string | undefined;
}

export async function recordStart(fleet: FleetAuditContext): Promise<void> {
  const { audit, version, node } = fleet;
  const details = { version, pid: process.pid, node: node ?? null };
  await audit.record(processActor(), { action: "fleet.start", details });
  await recordConfigChange(fleet, processActor());
}

/** Records every configuration that comes into force, once per hash. */
export async function recordConfigChange(
  { audit, state, loaded }: Pick<FleetAuditContext, "audit" | "state" | "loaded">,
  actor: Actor,
): Promise<void> {
  const config_hash = configHash(loaded);
  const { records } = await state.audit.list({ action: "config.change", limit: 1 });
  if (records[0]?.details.config_hash === config_hash) return;
  await audit.record(actor, { action: "config.change", details: { config_hash } });
}

/** The fleet stops even if this cannot be recorded. */
export async function recordStop(
  audit: AuditLogWriter,
  actor: Actor,
  { detach = false }: ShutdownOptions,
): Promise<void> {
  await audit.flush();
  await audit.perform(actor, { action: "fleet.stop", details: { detach } }, async () => undefined);
}
