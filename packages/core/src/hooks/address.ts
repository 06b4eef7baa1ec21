import { lookup } from "node:dns";
import type { LookupFunction } from "node:net";
import ipaddr from "ipaddr.js";

/** An address that is this machine's, its network's, or anything but a public one. */
export class PrivateAddress extends Error {}

/** Whether anybody on the internet would reach the same machine by this address. */
export function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  return ipaddr.process(address).range() === "unicast";
}

/**
 * Finds the addresses of a name and refuses all of them when one is private. It is the connection's
 * own look-up: what was checked here is what is connected to, whatever the name says a moment later.
 */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, "");
    const refused = addresses.find(({ address }) => !isPublic(address));
    const [first] = addresses;
    if (refused || !first) return callback(new PrivateAddress(hostname), "");
    if (options.all) return callback(null, addresses);
    callback(null, first.address, first.family);
  });
};
