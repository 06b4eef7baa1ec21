import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { docker } from "../../packages/config/src/schema/docker.ts";
import { createEgressGate } from "../../packages/core/src/runner/gateway/egress/admit-target.ts";
import { readServerName } from "../../packages/core/src/runner/gateway/egress/client-hello.ts";
import {
  compileEgressRules,
  egressPresets,
  egressRemedy,
} from "../../packages/core/src/runner/gateway/egress/rules.ts";
import {
  parsePlainTarget,
  parseTunnelTarget,
} from "../../packages/core/src/runner/gateway/egress/target.ts";
import { captureClientHello } from "./tls-client-hello.ts";

const readTarget = (text: string) => {
  const read = parseTunnelTarget(text);
  return read.kind === "target" ? read.target : expect.fail(`${text} is odd`);
};

test.each<[string, string, number]>([
  ["example.com:443", "example.com", 443],
  ["EXAMPLE.Com:443", "example.com", 443],
  ["a-b.x1.example.com:8080", "a-b.x1.example.com", 8080],
  ["xn--bcher-kva.example:443", "xn--bcher-kva.example", 443],
])("parses a tunnel to %s", (text, host, port) => {
  expect(parseTunnelTarget(text)).toMatchObject({ kind: "target", target: { host, port } });
});

const malformedHosts = [
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

test.each(malformedHosts.flatMap((host) => [`${host}:443`, host]))(
  "rejects a tunnel to %j",
  (text) => {
    expect(parseTunnelTarget(text)).toMatchObject({ kind: "odd" });
  },
);

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
])("rejects the port %j", (port) => {
  expect(parseTunnelTarget(`example.com:${port}`)).toMatchObject({ kind: "odd" });
});

test.each<[string, object]>([
  ["http://example.com", { target: { host: "example.com", port: 80 }, path: "/" }],
  [
    "HTTP://Example.com:8080/a?b=c",
    { target: { host: "example.com", port: 8080 }, path: "/a?b=c" },
  ],
  ["http://example.com?b=c", { target: { host: "example.com", port: 80 }, path: "/?b=c" }],
])("parses the request %s", (text, expected) => {
  expect(parsePlainTarget(text)).toMatchObject({ kind: "target", ...expected });
});

test.each([
  ...malformedHosts.map((host) => `http://${host}/`),
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
])("rejects the request %j", (text) => {
  expect(parsePlainTarget(text)).toMatchObject({ kind: "odd" });
});

test("parses only plain host names, and shows only plain text, for any request", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.constantFrom(":443", ""), (host, port) => {
      for (const read of [
        parseTunnelTarget(host + port),
        parsePlainTarget(`http://${host}${port}/`),
      ]) {
        if (read.kind === "odd") expect(read.shown.host).toMatch(/^[\x21-\x7e]{0,100}$/);
        else expect(read.target.host).toMatch(/^[a-z0-9.-]+$/);
      }
    }),
  );
});

describe("egress rules", () => {
  const open = compileEgressRules([
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
  ])("evaluates %s as %j", (text, expected) => {
    expect(open(readTarget(text))).toEqual(expected);
  });

  test("suggests a rule that opens only the refused host", () => {
    fc.assert(
      fc.property(fc.domain(), fc.integer({ min: 1, max: 65_535 }), (host, port) => {
        const target = { host: host.toLowerCase(), port };
        const name = /\[(.*)\]$/.exec(egressRemedy(target))?.[1] ?? "";
        expect(docker.parse({ egress: [name] }).egress).toEqual([name]);
        expect(compileEgressRules([name])(target)).toEqual(tls);
      }),
    );
  });

  test("knows exactly the presets of the configuration, each with full host names", () => {
    expect(docker.parse({ egress: Object.keys(egressPresets) }).egress).toHaveLength(4);
    for (const entry of Object.values(egressPresets).flat()) {
      const [host, port = "443"] = entry.split(":");
      expect(readTarget(`${host}:${port}`)).toEqual({ host, port: Number(port) });
      if (port !== "443") expect(egressPresets.debian).toContain(entry);
    }
  });
});

describe("resolved addresses", () => {
  const gate = (addresses: string[], seen: string[] = []) =>
    createEgressGate(
      ["example.com", { host: "inner.test", address: "127.0.0.1" }],
      async (host) => {
        seen.push(host);
        return addresses;
      },
    );

  test("refuses a name with one private address among public ones", async () => {
    expect(await gate(["8.8.8.8", "2606:4700::1"])(readTarget("example.com:443"))).toEqual({
      kind: "open",
      addresses: ["8.8.8.8", "2606:4700::1"],
      protocol: "tls",
    });
    expect(await gate(["8.8.8.8", "10.0.0.5"])(readTarget("example.com:443"))).toEqual({
      kind: "refused",
      reason: expect.stringContaining("10.0.0.5"),
      remedy: 'docker.egress: [{host: "example.com", address: "10.0.0.5"}]',
    });
    const metadata = await gate(["169.254.169.254"])(readTarget("example.com:443"));
    expect(metadata).toMatchObject({ kind: "refused" });
    expect(metadata).toHaveProperty("remedy", undefined);
    expect(await gate([])(readTarget("example.com:443"))).toMatchObject({ kind: "unresolved" });
  });

  test("does not resolve closed names or names with a fixed address", async () => {
    const seen: string[] = [];
    expect(await gate([], seen)(readTarget("secret.evil.test:443"))).toMatchObject({
      kind: "refused",
    });
    expect(await gate([], seen)(readTarget("inner.test:443"))).toEqual({
      kind: "open",
      addresses: ["127.0.0.1"],
      protocol: "tls",
      pinned: "127.0.0.1",
    });
    expect(seen).toEqual([]);
  });

  test("reports a name that cannot be resolved", async () => {
    const failing = createEgressGate(["example.com"], async () => {
      throw Object.assign(new Error("no"), { code: "EAI_AGAIN" });
    });
    expect(await failing(readTarget("example.com:443"))).toEqual({
      kind: "unresolved",
      failure: "EAI_AGAIN",
    });
  });
});

describe("TLS ClientHello", () => {
  test("finds the host however the message is split", async () => {
    const bytes = await captureClientHello("Registry.test");
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

  test("finds no host in a message without one or a broken one", async () => {
    expect(readServerName(await captureClientHello(""))).toEqual({ kind: "unnamed" });
    expect(readServerName(Buffer.from("16030100050100000100", "hex"))).toEqual({ kind: "unnamed" });
    expect(readServerName(Buffer.from("160301000402000000", "hex"))).toEqual({ kind: "unnamed" });
  });

  test("distinguishes TLS from other protocols", () => {
    expect(readServerName(Buffer.from("GET / HTTP/1.1"))).toEqual({ kind: "not_tls" });
    expect(readServerName(Buffer.from("SSH-2.0-x"))).toEqual({ kind: "not_tls" });
  });

  test("never throws for any bytes", async () => {
    const good = await captureClientHello("registry.test");
    fc.assert(
      fc.property(fc.nat(good.length - 1), fc.nat(255), (place, value) => {
        const bytes = Buffer.from(good);
        bytes[place] = value;
        expect(() => readServerName(bytes)).not.toThrow();
      }),
    );
  });
});
