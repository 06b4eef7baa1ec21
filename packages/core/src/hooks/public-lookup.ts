import { lookup } from "node:dns";
import type { LookupFunction } from "node:net";
import { isPublicAddress } from "../lib/public-address.ts";

/** The host is, or leads to, an address that is not public. */
export class PrivateHostError extends Error {}

/**
 * Finds the addresses of a name and refuses all of them when one is private. It is the lookup of the
 * connection itself: the address that was checked is the one that is connected to.
 */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, "");
    const refused = addresses.find(({ address }) => !isPublicAddress(address));
    const [first] = addresses;
    if (refused || !first) return callback(new PrivateHostError(hostname), "");
    if (options.all) return callback(null, addresses);
    callback(null, first.address, first.family);
  });
};
