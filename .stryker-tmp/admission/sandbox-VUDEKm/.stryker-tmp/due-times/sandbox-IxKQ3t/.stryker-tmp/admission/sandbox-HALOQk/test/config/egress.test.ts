import { expect, test } from "vitest";
import { parse } from "yaml";
import { docker } from "../../packages/config/src/schema/docker.ts";
import { egressRemedy } from "../../packages/core/src/runner/gateway/egress/rules.ts";

const parseEgress = (yaml: string) => docker.safeParse({ egress: parse(yaml) });

test.each([
  ['[{host: "git.example.com:22", protocol: tcp}]'],
  ['[{host: "db.corp:5432", address: 10.0.0.5, protocol: tcp}]'],
  ["[{host: registry.corp, address: 10.0.0.5}]"],
  ["[example.com:80, debian]"],
])("accepts the rules %s", (yaml) => {
  expect(parseEgress(yaml).success).toBe(true);
});

test.each([
  ["[{host: registry.corp2}]", undefined],
  ["[{host: registry}]", "needs an address"],
  ["[{host: git.example.com, protocol: tcp}]", "needs a single host with a port"],
  ['[{host: "*.example.com:22", protocol: tcp}]', "needs a single host with a port"],
  ['[{host: "git.example.com:22", protocol: udp}]', "Invalid input"],
])("rejects the rules %s: %s", (yaml, message) => {
  const { success, error } = parseEgress(yaml);
  expect(success).toBe(message === undefined);
  if (message) expect(JSON.stringify(error?.issues)).toContain(message);
});

test("suggests a rule that the configuration accepts", () => {
  const target = { host: "git.example.com", port: 22 };
  for (const allowed of [{ protocol: "tcp" }, { address: "10.0.0.5", protocol: "tcp" }] as const) {
    const line = egressRemedy(target, allowed).replace("docker.egress: ", "");
    expect(parseEgress(line)).toMatchObject({
      success: true,
      data: { egress: [{ host: "git.example.com:22", ...allowed }] },
    });
  }
});
