import { lookup } from "node:dns/promises";
import { classifyPrivateAddress } from "../../../lib/public-address.ts";
import { compileEgressRules, type EgressRule, egressRemedy, type TunnelProtocol } from "./rules.ts";
import type { Target } from "./target.ts";

/** Resolves a host name to all its addresses. */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

export type EgressAdmission =
  | { kind: "open"; addresses: readonly string[]; protocol: TunnelProtocol; pinned?: string }
  | { kind: "refused"; reason: string; remedy?: string }
  | { kind: "unresolved"; failure: string };

/**
 * Decides whether and at which addresses a host may be reached. A host that is not allowed is not
 * even resolved. All addresses of a host must be public: a private one indicates an attack.
 */
export function createEgressGate(
  rules: readonly EgressRule[],
  resolve: ResolveHost = resolveWithSystem,
): (target: Target) => Promise<EgressAdmission> {
  const findGrant = compileEgressRules(rules);
  return async (target) => {
    const grant = findGrant(target);
    if (grant === undefined) {
      return {
        kind: "refused",
        reason: "the host is not allowed for this agent",
        remedy: egressRemedy(target),
      };
    }
    const { protocol } = grant;
    if (grant.kind === "pinned") {
      const { addresses } = grant;
      return { kind: "open", addresses, protocol, pinned: addresses[0] };
    }
    return resolve(target.host).then(
      (addresses) => checkAddresses(target, addresses, protocol),
      (error: NodeJS.ErrnoException) => ({
        kind: "unresolved",
        failure: error.code ?? "ENOTFOUND",
      }),
    );
  };
}

function checkAddresses(
  target: Target,
  addresses: readonly string[],
  protocol: TunnelProtocol,
): EgressAdmission {
  for (const address of addresses) {
    const privateReason = classifyPrivateAddress(address);
    // defence: no-private-address
    if (privateReason === undefined) continue;
    return {
      kind: "refused",
      reason: `the host resolves to ${address}, which ${privateReason.reason}`,
      remedy: privateReason.isLocalNetwork ? egressRemedy(target, { address }) : undefined,
    };
  }
  if (addresses.length === 0) return { kind: "unresolved", failure: "ENOTFOUND" };
  return { kind: "open", addresses, protocol };
}

async function resolveWithSystem(host: string): Promise<readonly string[]> {
  const found = await lookup(host, { all: true });
  return found.map(({ address }) => address);
}
