import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { docker } from "../../packages/core/src/config/schema/docker.ts";
import { egressGate } from "../../packages/core/src/gateway/egress/admission.ts";
import { readServerName } from "../../packages/core/src/gateway/egress/client-hello.ts";
import { presets } from "../../packages/core/src/gateway/egress/presets.ts";
import { egressRemedy, egressRules } from "../../packages/core/src/gateway/egress/rules.ts";
import {
  readPlainTarget,
  readTunnelTarget,
} from "../../packages/core/src/gateway/egress/target.ts";
import { clientHello } from "./client-hello.ts";

const at = (text: string) => {
  const read = readTunnelTarget(text);
  return read.kind === "target" ? read.target : expect.fail(`${text} is odd`);
};

test.each<[string, string, number]>([
  ["example.com:443", "example.com", 443],
  ["EXAMPLE.Com:443", "example.com", 443],
  ["a-b.x1.example.com:8080", "a-b.x1.example.com", 8080],
  ["xn--bcher-kva.example:443", "xn--bcher-kva.example", 443],
])("a tunnel to %s is read", (text, host, port) => {
  expect(readTunnelTarget(text)).toMatchObject({ kind: "target", target: { host, port } });
});

const tricks = [
  "example.com.",
  "example..com",
  ".example.com",
  "-a.example.com",
  "a_b.example.com",
  "*.example.com",
  `${"a".repeat(64)}.com`,
  `${"a.".repeat(130)}com`,
  "127.0.0.1",
  "127.1",
  "2130706433",
  "0x7f000001",
  "0x7f.0.0.1",
  "0X7F.1",
  "0177.0.0.01",
  "1.2.3.0x",
  "example.com.127.0.0.1",
  "[::1]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[fe80::1%eth0]",
  "::1",
  "user@example.com",
  "user:pass@example.com",
  "example.com@evil.test",
  "example.com\\evil.test",
  "example.com%00.evil.test",
  "example%2ecom",
  "example.com\0.evil.test",
  "example.com\t",
  " example.com",
  "example.com\u007f",
  "bücher.example",
  "еxample.com",
  "example。com",
  "ｅxample.com",
  "",
];

test.each(tricks.flatMap((host) => [`${host}:443`, host]))("a tunnel to %j is odd", (text) => {
  expect(readTunnelTarget(text)).toMatchObject({ kind: "odd" });
});

test.each([
  "0",
  "00443",
  "+443",
  "-1",
  "65536",
  "99999",
  "443 ",
  "4e2",
  "0x1bb",
  "443:443",
  "",
  "٤٤٣",
])("the port %j is odd", (port) => {
  expect(readTunnelTarget(`example.com:${port}`)).toMatchObject({ kind: "odd" });
});

test.each<[string, object]>([
  ["http://example.com", { target: { host: "example.com", port: 80 }, path: "/" }],
  [
    "HTTP://Example.com:8080/a?b=c",
    { target: { host: "example.com", port: 8080 }, path: "/a?b=c" },
  ],
  ["http://example.com?b=c", { target: { host: "example.com", port: 80 }, path: "/?b=c" }],
])("the request %s is read", (text, expected) => {
  expect(readPlainTarget(text)).toMatchObject({ kind: "target", ...expected });
});

test.each([
  ...tricks.map((host) => `http://${host}/`),
  "/index.html",
  "*",
  "https://example.com/",
  "ftp://example.com/",
  "http:/example.com/",
  "http:\\\\example.com/",
  "http://example.com/a b",
  "http://example.com/#part",
  "http://example.com/\u00e9",
  "http://example.com:80:80/",
])("the request %j is odd", (text) => {
  expect(readPlainTarget(text)).toMatchObject({ kind: "odd" });
});

test("whatever is asked for, a name that is read holds nothing but a name, and what is shown is plain", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.constantFrom(":443", ""), (host, port) => {
      for (const read of [
        readTunnelTarget(host + port),
        readPlainTarget(`http://${host}${port}/`),
      ]) {
        if (read.kind === "odd") expect(read.shown.host).toMatch(/^[\x21-\x7e]{0,100}$/);
        else expect(read.target.host).toMatch(/^[a-z0-9.-]+$/);
      }
    }),
  );
});

describe("rules", () => {
  const open = egressRules([
    "npm",
    "example.com",
    "*.wide.test",
    "registry.test:8443",
    { host: "inner.test", address: "10.0.0.5" },
    { host: "both.test", address: "10.0.0.6" },
    "both.test",
    "plain.test:80",
    "debian",
    { host: "git.test:22", protocol: "tcp" },
    "git.test",
  ]);

  const tls = { kind: "resolve", protocol: "tls" };

  test.each<[string, object | undefined]>([
    ["example.com:443", tls],
    ["example.com:80", undefined],
    ["plain.test:80", tls],
    ["plain.test:443", undefined],
    ["deb.debian.org:80", tls],
    ["deb.debian.org:443", tls],
    ["registry.npmjs.org:80", undefined],
    ["git.test:22", { kind: "resolve", protocol: "tcp" }],
    ["git.test:443", tls],
    ["example.com:22", undefined],
    ["www.example.com:443", undefined],
    ["badexample.com:443", undefined],
    ["example.com.evil.test:443", undefined],
    ["a.wide.test:443", tls],
    ["a.b.wide.test:443", tls],
    ["wide.test:443", undefined],
    ["awide.test:443", undefined],
    ["registry.test:8443", tls],
    ["registry.test:443", undefined],
    ["registry.npmjs.org:443", tls],
    ["npm:443", undefined],
    ["pypi.org:443", undefined],
    ["inner.test:443", { kind: "pinned", addresses: ["10.0.0.5"], protocol: "tls" }],
    ["both.test:443", { kind: "pinned", addresses: ["10.0.0.6"], protocol: "tls" }],
  ])("%s is %j", (text, expected) => {
    expect(open(at(text))).toEqual(expected);
  });

  test("every remedy is a line that opens just that", () => {
    fc.assert(
      fc.property(fc.domain(), fc.integer({ min: 1, max: 65_535 }), (host, port) => {
        const target = { host: host.toLowerCase(), port };
        const name = /\[(.*)\]$/.exec(egressRemedy(target))?.[1] ?? "";
        expect(docker.parse({ egress: [name] }).egress).toEqual([name]);
        expect(egressRules([name])(target)).toEqual(tls);
      }),
    );
  });

  test("the presets of the configuration are those that are known, each of whole names", () => {
    expect(docker.parse({ egress: Object.keys(presets) }).egress).toHaveLength(4);
    for (const entry of Object.values(presets).flat()) {
      const [host, port = "443"] = entry.split(":");
      expect(at(`${host}:${port}`)).toEqual({ host, port: Number(port) });
      if (port !== "443") expect(presets.debian).toContain(entry);
    }
  });
});

describe("addresses", () => {
  const gate = (addresses: string[], seen: string[] = []) =>
    egressGate(["example.com", { host: "inner.test", address: "127.0.0.1" }], async (host) => {
      seen.push(host);
      return addresses;
    });

  test("one private answer among public ones is one too many", async () => {
    expect(await gate(["8.8.8.8", "2606:4700::1"])(at("example.com:443"))).toEqual({
      kind: "open",
      addresses: ["8.8.8.8", "2606:4700::1"],
      protocol: "tls",
    });
    expect(await gate(["8.8.8.8", "10.0.0.5"])(at("example.com:443"))).toEqual({
      kind: "refused",
      reason: expect.stringContaining("10.0.0.5"),
      remedy: 'docker.egress: [{host: "example.com", address: "10.0.0.5"}]',
    });
    const metadata = await gate(["169.254.169.254"])(at("example.com:443"));
    expect(metadata).toMatchObject({ kind: "refused" });
    expect(metadata).toHaveProperty("remedy", undefined);
    expect(await gate([])(at("example.com:443"))).toMatchObject({ kind: "unresolved" });
  });

  test("names that are not open and names with an address are not looked up", async () => {
    const seen: string[] = [];
    expect(await gate([], seen)(at("secret.evil.test:443"))).toMatchObject({ kind: "refused" });
    expect(await gate([], seen)(at("inner.test:443"))).toEqual({
      kind: "open",
      addresses: ["127.0.0.1"],
      protocol: "tls",
      pinned: "127.0.0.1",
    });
    expect(seen).toEqual([]);
  });

  test("a name that cannot be looked up says so", async () => {
    const failing = egressGate(["example.com"], async () => {
      throw Object.assign(new Error("no"), { code: "EAI_AGAIN" });
    });
    expect(await failing(at("example.com:443"))).toEqual({
      kind: "unresolved",
      failure: "EAI_AGAIN",
    });
  });
});

describe("the first message of TLS", () => {
  test("names the host, however it is cut", async () => {
    const bytes = await clientHello("Registry.test");
    expect(readServerName(bytes)).toEqual({ kind: "named", name: "registry.test" });
    for (let length = 0; length < bytes.length; length += 1) {
      expect(readServerName(bytes.subarray(0, length))).toEqual({ kind: "incomplete" });
    }
    const body = bytes.subarray(5);
    const record = (part: Buffer) =>
      Buffer.concat([Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]), part]);
    const records = [body.subarray(0, 3), body.subarray(3, 60), body.subarray(60)].map(record);
    expect(readServerName(Buffer.concat(records))).toEqual({
      kind: "named",
      name: "registry.test",
    });
  });

  test("without a name, or broken, has none", async () => {
    expect(readServerName(await clientHello(""))).toEqual({ kind: "unnamed" });
    expect(readServerName(Buffer.from("16030100050100000100", "hex"))).toEqual({ kind: "unnamed" });
    expect(readServerName(Buffer.from("160301000402000000", "hex"))).toEqual({ kind: "unnamed" });
  });

  test("is told from anything else", () => {
    expect(readServerName(Buffer.from("GET / HTTP/1.1"))).toEqual({ kind: "not_tls" });
    expect(readServerName(Buffer.from("SSH-2.0-x"))).toEqual({ kind: "not_tls" });
  });

  test("no bytes make the reading fail", async () => {
    const good = await clientHello("registry.test");
    fc.assert(
      fc.property(fc.nat(good.length - 1), fc.nat(255), (place, value) => {
        const bytes = Buffer.from(good);
        bytes[place] = value;
        expect(() => readServerName(bytes)).not.toThrow();
      }),
    );
  });
});
