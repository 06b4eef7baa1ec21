import { UserError } from "@herdctl/protocol";
import { inspectStore, type StoreInspection } from "../../store/postgres/inspect-store.ts";
import { type Finding, failed, ok, warning } from "../check.ts";

const name = "store";
const minServerVersion = 13;
/** Leases last for seconds, so a clock difference of up to this is harmless. */
const maxClockSkewMs = 1_000;
/** Every update of a job waits for several round trips. */
const maxLatencyMs = 25;

/** Checks the shared database without writing to it. */
export async function checkStore(store: string): Promise<Finding[]> {
  try {
    return evaluateStore(await inspectStore(store));
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return [failed(name, `${error.message}.`, error.hint)];
  }
}

export function evaluateStore(facts: StoreInspection): Finding[] {
  const blocker = findBlocker(facts);
  if (blocker) return [blocker];
  const { address, server, latencyMs, clockSkewMs, version, isFresh } = facts;
  const state = isFresh ? "still empty" : `schema version ${version}`;
  const okMessage = `${address} responds in ${latencyMs.toFixed(1)} ms: PostgreSQL ${server}, ${state}.`;
  const slowFinding = warning(
    name,
    `${address} takes ${Math.round(latencyMs)} ms to respond, and every step of a job waits for it.`,
    "Run the machines and the database in the same location.",
  );
  return [
    latencyMs > maxLatencyMs ? slowFinding : ok(name, okMessage),
    Math.abs(clockSkewMs) > maxClockSkewMs
      ? warning(
          "store clock",
          `The clock of this machine is ${describeSkew(clockSkewMs)} that of ${address}: schedules run at the wrong time.`,
          "Synchronize the clocks of both machines, for example with `timedatectl set-ntp true`.",
        )
      : ok(
          "store clock",
          `It agrees with the clock of this machine within ${Math.abs(Math.round(clockSkewMs))} ms.`,
        ),
  ];
}

function findBlocker(facts: StoreInspection): Finding | undefined {
  const { address, server, serverNumber, encoding, isStandby, canCreateTables, isFresh } = facts;
  if (serverNumber < minServerVersion) {
    return failed(
      name,
      `${address} is PostgreSQL ${server}; herdctl needs 13 or newer.`,
      upgradeHint,
    );
  }
  if (encoding !== "UTF8") {
    const hint = "Create a database with `CREATE DATABASE … TEMPLATE template0 ENCODING 'UTF8'`.";
    return failed(name, `${address} uses the encoding ${encoding} instead of UTF8.`, hint);
  }
  if (isStandby) {
    const hint = "Set `store` to the primary server.";
    return failed(name, `${address} is a standby, which is read-only.`, hint);
  }
  if (isFresh && !canCreateTables) {
    const hint = `Allow it: \`GRANT CREATE ON DATABASE ${facts.database} TO ${facts.user}\`.`;
    return failed(name, `${facts.user} is not permitted to create tables in ${address}.`, hint);
  }
  return undefined;
}

const upgradeHint = "Use a newer PostgreSQL.";

function describeSkew(milliseconds: number): string {
  const amount = Math.abs(milliseconds) / 1_000;
  const text = amount < 120 ? `${amount.toFixed(1)} s` : `${Math.round(amount / 60)} min`;
  return `${text} ${milliseconds > 0 ? "ahead of" : "behind"}`;
}
