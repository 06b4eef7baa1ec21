import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { describe, expect, test } from "vitest";
import { PrivateHostError, publicLookup } from "../../packages/core/src/hooks/http-post.ts";
import {
  classifyPrivateAddress,
  isPublicAddress,
} from "../../packages/core/src/lib/public-address.ts";
import { createEgressGate } from "../../packages/core/src/runner/gateway/egress/admit-target.ts";

const privateAddresses: [address: string, what: string][] = [
  ["0.0.0.0", "unspecified"],
  ["0.1.2.3", "this network"],
  ["10.1.2.3", "private"],
  ["100.64.0.1", "carrier-grade NAT"],
  ["100.100.100.200", "a cloud's metadata in carrier-grade NAT"],
  ["127.0.0.1", "loopback"],
  ["127.255.0.9", "loopback"],
  ["168.63.129.16", "Azure's wire server, which looks public"],
  ["169.254.169.254", "link-local: metadata of most clouds"],
  ["172.16.0.1", "private"],
  ["172.31.255.255", "private"],
  ["192.0.0.192", "protocol assignments: Oracle's metadata"],
  ["192.0.2.1", "documentation"],
  ["192.168.1.1", "private"],
  ["198.18.0.1", "benchmarks"],
  ["198.51.100.1", "documentation"],
  ["203.0.113.1", "documentation"],
  ["224.0.0.1", "multicast"],
  ["239.255.255.255", "multicast"],
  ["240.0.0.1", "reserved"],
  ["255.255.255.255", "broadcast"],
  ["::", "unspecified"],
  ["::1", "loopback"],
  ["::127.0.0.1", "IPv4-compatible"],
  ["::7f00:1", "IPv4-compatible, in hex"],
  ["::ffff:127.0.0.1", "IPv4-mapped"],
  ["::ffff:7f00:1", "IPv4-mapped, in hex"],
  ["::ffff:10.0.0.1", "IPv4-mapped"],
  ["::ffff:8.8.8.8", "IPv4-mapped, of a public one"],
  ["::ffff:0:127.0.0.1", "IPv4-translated"],
  ["64:ff9b::7f00:1", "NAT64"],
  ["64:ff9b::a9fe:a9fe", "NAT64 to a metadata service"],
  ["64:ff9b:1::a00:1", "local NAT64"],
  ["100::1", "discard"],
  ["2001::1", "Teredo"],
  ["2001:0:7f00:1::1", "Teredo"],
  ["2001:2::1", "benchmarks"],
  ["2001:db8::1", "documentation"],
  ["2002:7f00:1::", "6to4 of loopback"],
  ["2002:a00:1::1", "6to4 of a private one"],
  ["3fff::1", "documentation"],
  ["fc00::1", "unique local"],
  ["fd00::1", "unique local"],
  ["fd00:ec2::254", "unique local: AWS's metadata"],
  ["fe80::1", "link-local"],
  ["fe80::1%eth0", "link-local with a zone"],
  ["fec0::1", "site-local"],
  ["ff02::1", "multicast"],
  ["5f00::1", "segment routing"],
  ["4000::1", "not assigned"],
  ["not an address", "no address"],
  ["127.1", "a short form"],
  ["0x7f000001", "a hexadecimal form"],
  ["", "nothing"],
];

const publicAddresses = [
  ...["1.1.1.1", "8.8.8.8", "104.16.0.1", "140.82.112.3", "151.101.1.1"],
  ...["2606:4700::1", "2606:4700:4700::1111", "2a04:4e42::1"],
];

describe("classification of addresses", () => {
  test.each(privateAddresses)("classifies %s (%s) as not public", (address) => {
    expect(isPublicAddress(address)).toBe(false);
    expect(classifyPrivateAddress(address)?.reason).toMatch(/^(is|belongs)/);
  });

  test.each(publicAddresses)(
    "classifies %s as public unless it belongs to this machine",
    (address) => {
      expect(classifyPrivateAddress(address, [])).toBeUndefined();
      expect(classifyPrivateAddress(address, publicAddresses)?.reason).toBe(
        "belongs to this machine",
      );
    },
  );

  test("classifies every address of this machine as not public", () => {
    const own = Object.values(networkInterfaces()).flatMap((some) => some ?? []);
    expect(own.length).toBeGreaterThan(0);
    for (const { address } of own)
      expect([address, isPublicAddress(address)]).toEqual([address, false]);
  });
});

const literals = privateAddresses
  .map(([address]) => address)
  .filter((one) => isIP(one) && !one.includes("%"));

test.each(literals)("classifies %s the same for hooks and egress", async (address) => {
  // The lookup of an address makes no connection.
  const error = await new Promise((done) => publicLookup(address, {}, done));
  expect(error).toBeInstanceOf(PrivateHostError);
  const admit = createEgressGate(["x.test"], async () => [address]);
  expect(await admit({ host: "x.test", port: 443 })).toMatchObject({ kind: "refused" });
});
