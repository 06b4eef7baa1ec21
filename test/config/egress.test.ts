import { expect, test } from "vitest";
import { parse } from "yaml";
import { docker } from "../../packages/core/src/config/schema/docker.ts";
import { egressRemedy } from "../../packages/core/src/gateway/egress/rules.ts";

const parsed = (yaml: string) => docker.safeParse({ egress: parse(yaml) });

test.each([
  ['[{host: "git.example.com:22", protocol: tcp}]'],
  ['[{host: "db.corp:5432", address: 10.0.0.5, protocol: tcp}]'],
  ["[{host: registry.corp, address: 10.0.0.5}]"],
  ["[example.com:80, debian]"],
])("the rules %s are accepted", (yaml) => {
  expect(parsed(yaml).success).toBe(true);
});

test.each([
  ["[{host: registry.corp2}]", undefined],
  ["[{host: registry}]", "has no address"],
  ["[{host: git.example.com, protocol: tcp}]", "is not one host and port"],
  ['[{host: "*.example.com:22", protocol: tcp}]', "is not one host and port"],
  ['[{host: "git.example.com:22", protocol: udp}]', "Invalid input"],
])("the rules %s: %s", (yaml, message) => {
  const { success, error } = parsed(yaml);
  expect(success).toBe(message === undefined);
  if (message) expect(JSON.stringify(error?.issues)).toContain(message);
});

test("the line that would allow another protocol is one that the configuration accepts", () => {
  const target = { host: "git.example.com", port: 22 };
  for (const allowed of [{ protocol: "tcp" }, { address: "10.0.0.5", protocol: "tcp" }] as const) {
    const line = egressRemedy(target, allowed).replace("docker.egress: ", "");
    expect(parsed(line)).toMatchObject({
      success: true,
      data: { egress: [{ host: "git.example.com:22", ...allowed }] },
    });
  }
});
