import { UserError } from "../../errors/user-error.ts";
import { lookAtStore, type StoreFacts } from "../../state/postgres/look-at-store.ts";
import { type Finding, failed, ok, warning } from "../check.ts";

const name = "store";
const oldestServer = 13;
/** Leases are counted in seconds: nodes whose clocks are this far apart still agree on all that counts. */
const mostSkew = 1_000;
/** Every record of a job waits for a few answers. */
const mostLatency = 25;

/** The database that several machines share. Nothing is written there. */
export async function checkStore(store: string): Promise<Finding[]> {
  try {
    return judgeStore(await lookAtStore(store));
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return [failed(name, `${error.message}.`, error.hint)];
  }
}

export function judgeStore(facts: StoreFacts): Finding[] {
  const obstacle = obstacleOf(facts);
  if (obstacle) return [obstacle];
  const { address, server, latencyMs, skewMs, version, isFresh } = facts;
  const state = isFresh ? "nothing is in it yet" : `state of version ${version}`;
  const reached = `${address} answers in ${latencyMs.toFixed(1)} ms: PostgreSQL ${server}, ${state}.`;
  const far = warning(
    name,
    `${address} takes ${Math.round(latencyMs)} ms to answer, and every step of a job waits for it.`,
    "Let the machines and the database stand in one place.",
  );
  return [
    latencyMs > mostLatency ? far : ok(name, reached),
    Math.abs(skewMs) > mostSkew
      ? warning(
          "store clock",
          `The clock here is ${apart(skewMs)} that of ${address}: schedules run at the wrong time.`,
          "Let both machines keep the time, for example with `timedatectl set-ntp true`.",
        )
      : ok("store clock", `It agrees with the clock here, to ${Math.abs(Math.round(skewMs))} ms.`),
  ];
}

function obstacleOf(facts: StoreFacts): Finding | undefined {
  const { address, server, serverNumber, encoding, isStandby, mayCreate, isFresh } = facts;
  if (serverNumber < oldestServer) {
    return failed(name, `${address} is PostgreSQL ${server}; herdctl needs 13 or newer.`, upgrade);
  }
  if (encoding !== "UTF8") {
    const hint = "Make a database with `CREATE DATABASE … TEMPLATE template0 ENCODING 'UTF8'`.";
    return failed(name, `${address} is kept in ${encoding}, not in UTF8.`, hint);
  }
  if (isStandby) {
    const hint = "Name the primary server in `store`.";
    return failed(name, `${address} is a standby: nobody can write there.`, hint);
  }
  if (isFresh && !mayCreate) {
    const hint = `Let it: \`GRANT CREATE ON DATABASE ${facts.database} TO ${facts.user}\`.`;
    return failed(name, `${facts.user} may not make tables in ${address}.`, hint);
  }
  return undefined;
}

const upgrade = "Use a newer PostgreSQL.";

function apart(milliseconds: number): string {
  const amount = Math.abs(milliseconds) / 1_000;
  const text = amount < 120 ? `${amount.toFixed(1)} s` : `${Math.round(amount / 60)} min`;
  return `${text} ${milliseconds > 0 ? "ahead of" : "behind"}`;
}
