import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";

export interface PrivateAddress {
  reason: string;
  /** Whether a host of somebody's own network may well be meant. */
  isNameable: boolean;
}

/** Whether an address is on the open internet, and not one of this machine. */
export function isPublicAddress(address: string): boolean {
  return whyPrivate(address) === undefined;
}

/**
 * Why an address that a name leads to must not be used, or undefined for a public one. Addresses
 * that embed another one count as private, whatever they embed.
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
  if (own.some((one) => isSame(one, normal))) return never("belongs to this machine");
  return undefined;
}

const ownNetworks: readonly string[] = ["private", "uniqueLocal", "carrierGradeNat", "loopback"];

/** All that has been given out so far. */
const globalUnicast = ipaddr.parseCIDR("2000::/3");

/** The others lie in private classes; this one looks public. */
const metadataAddresses = ["168.63.129.16"];

function ownAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.map(({ address }) => address);
}

function isSame(address: string, normal: string): boolean {
  return ipaddr.isValid(address) && ipaddr.parse(address).toNormalizedString() === normal;
}
