import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";

export interface PrivateAddress {
  reason: string;
  /** Whether the address can belong to a host of the operator's own network. */
  isLocalNetwork: boolean;
}

/** Whether an address is on the public internet and does not belong to this machine. */
export function isPublicAddress(address: string): boolean {
  return classifyPrivateAddress(address) === undefined;
}

/**
 * Why an address that a host name resolves to must not be used; undefined for a public address.
 * Addresses that embed another address always count as private.
 */
export function classifyPrivateAddress(
  address: string,
  own = machineAddresses(),
): PrivateAddress | undefined {
  const otherAddress = (reason: string) => ({ reason, isLocalNetwork: false });
  if (isIP(address) === 0 || address.includes("%")) return otherAddress("is not a plain address");
  const parsed = ipaddr.parse(address);
  const kind = parsed.range();
  if (kind !== "unicast") {
    return {
      reason: `is not on the open internet (${kind})`,
      isLocalNetwork: localNetworkRanges.includes(kind),
    };
  }
  if (parsed.kind() === "ipv6" && !parsed.match(globalUnicast)) {
    return otherAddress("is not on the open internet");
  }
  const normalized = parsed.toNormalizedString();
  if (/* defence: metadata-addresses */ metadataAddresses.includes(normalized))
    return otherAddress("belongs to the cloud around this machine");
  if (own.some((machineAddress) => isSame(machineAddress, normalized)))
    return otherAddress("belongs to this machine");
  return undefined;
}

const localNetworkRanges: readonly string[] = [
  "private",
  "uniqueLocal",
  "carrierGradeNat",
  "loopback",
];

/** All global unicast addresses allocated so far. */
const globalUnicast = ipaddr.parseCIDR("2000::/3");

/** Other metadata addresses are in private ranges; this one looks public. */
const metadataAddresses = ["168.63.129.16"];

function machineAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.map(({ address }) => address);
}

function isSame(address: string, normalized: string): boolean {
  return ipaddr.isValid(address) && ipaddr.parse(address).toNormalizedString() === normalized;
}
