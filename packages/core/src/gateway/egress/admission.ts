import { lookup } from "node:dns/promises";
import { whyPrivate } from "../../lib/public-address.ts";
import { type EgressRule, egressRemedy, egressRules, type Protocol } from "./rules.ts";
import type { Target } from "./target.ts";

/** Gives every address of a name. */
export type Resolve = (host: string) => Promise<readonly string[]>;

export type EgressAdmission =
  | { kind: "open"; addresses: readonly string[]; protocol: Protocol; pinned?: string }
  | { kind: "refused"; reason: string; remedy?: string }
  | { kind: "unresolved"; failure: string };

/**
 * Where a host may be reached. A name that is not open is not even looked up, and of one that is,
 * every address must be public: with one private among them somebody plays tricks.
 */
export function egressGate(
  rules: readonly EgressRule[],
  resolve: Resolve = resolveBySystem,
): (target: Target) => Promise<EgressAdmission> {
  const openingFor = egressRules(rules);
  return async (target) => {
    const opening = openingFor(target);
    if (opening === undefined) {
      return {
        kind: "refused",
        reason: "the host is not open to this agent",
        remedy: egressRemedy(target),
      };
    }
    const { protocol } = opening;
    if (opening.kind === "pinned") {
      const { addresses } = opening;
      return { kind: "open", addresses, protocol, pinned: addresses[0] };
    }
    return resolve(target.host).then(
      (addresses) => judge(target, addresses, protocol),
      (error: NodeJS.ErrnoException) => ({
        kind: "unresolved",
        failure: error.code ?? "ENOTFOUND",
      }),
    );
  };
}

function judge(target: Target, addresses: readonly string[], protocol: Protocol): EgressAdmission {
  for (const address of addresses) {
    const why = whyPrivate(address);
    if (why === undefined) continue;
    return {
      kind: "refused",
      reason: `the host leads to ${address}, which ${why.reason}`,
      remedy: why.isNameable ? egressRemedy(target, { address }) : undefined,
    };
  }
  if (addresses.length === 0) return { kind: "unresolved", failure: "ENOTFOUND" };
  return { kind: "open", addresses, protocol };
}

async function resolveBySystem(host: string): Promise<readonly string[]> {
  const found = await lookup(host, { all: true });
  return found.map(({ address }) => address);
}
