import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";

export interface PrivateAddress {
  reason: string;
  /** Whether a host of somebody's own network may well be meant. */
  isNameable: boolean;
}

/**
 * Why nobody may be led to an address by a name, or undefined for one on the open internet. Only
 * what is known to be public is: addresses that embed another one are not, whatever they embed.
 */
export function whyPrivate(address: string, own = ownAddresses()): PrivateAddress | undefined {
  const never = (reason: string) => ({ reason, isNameable: false });
  if (isIP(address) === 0 || address.includes("%")) return never("is not a plain address");
  const parsed = ipaddr.parse(address);
  const kind = parsed.range();
  if (kind !== "unicast") {
    return {
      reason: `is not on the open internet (${kind})`,
      isNameable: ownNetworks.includes(kind),
    };
  }
  if (parsed.kind() === "ipv6" && !parsed.match(globalUnicast)) {
    return never("is not on the open internet");
  }
  const normal = parsed.toNormalizedString();
  if (metadataAddresses.includes(normal)) return never("belongs to the cloud around this machine");
  if (own.includes(normal)) return never("belongs to this machine");
  return undefined;
}

const ownNetworks: readonly string[] = ["private", "uniqueLocal", "carrierGradeNat", "loopback"];

/** All that has been given out so far. */
const globalUnicast = ipaddr.parseCIDR("2000::/3");

/** The others lie in private classes; this one looks public. */
const metadataAddresses = ["168.63.129.16"];

function ownAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all
    .filter(({ address }) => ipaddr.isValid(address))
    .map(({ address }) => ipaddr.parse(address).toNormalizedString());
}
