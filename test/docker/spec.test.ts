import { readFileSync } from "node:fs";
import { resolveDockerConfig } from "@herdctl/core";
import { expect, test } from "vitest";
import { containerSpec } from "../../packages/core/src/runner/container/spec.ts";
import { agentOf, inlineAgent, load } from "../support/fleet.ts";

const golden = JSON.parse(
  readFileSync(new URL("golden/default-container.json", import.meta.url), "utf8"),
);

const facts = {
  identity: {
    fleet: "0123456789abcdef",
    agent: "one",
    workspace: "/srv/repo",
    who: { jobId: "job-2026-01-01-abcdefghjk", attempt: 1 },
  },
  user: { uid: 1000, gid: 1000 },
  mounts: [{ source: "/srv/repo", target: "/workspace", readOnly: false }],
};

function specOf(docker: string) {
  const yaml = `working_directory: /srv/repo\ndocker: { enabled: true, image: "herdctl/agent:test"${docker && `, ${docker}`} }`;
  return containerSpec(resolveDockerConfig(agentOf(load(inlineAgent(yaml)), "one")), facts);
}

test("the description of a default container is the one that was reviewed", () => {
  expect(JSON.parse(JSON.stringify(specOf("")))).toEqual(golden);
});

const options: [docker: string, expected: object][] = [
  ["memory: 512m", { HostConfig: { Memory: 536870912, MemorySwap: 536870912 } }],
  ["cpus: 1.5", { HostConfig: { NanoCpus: 1_500_000_000 } }],
  ["pids_limit: 200", { HostConfig: { PidsLimit: 200 } }],
  ["network: bridge", { HostConfig: { NetworkMode: "bridge" } }],
  ["network: host", { HostConfig: { NetworkMode: "host" } }],
  ["read_only: false", { HostConfig: { ReadonlyRootfs: false } }],
  [
    "tmpfs: [/var/cache]",
    { HostConfig: { Tmpfs: { "/var/cache": expect.stringContaining("nosuid") } } },
  ],
];

test.each(options)("%s", (docker, expected) => {
  expect(specOf(docker)).toMatchObject(expected);
});

test("no option of an agent brings a capability, a privilege or a namespace of the host back", () => {
  for (const [docker] of options) {
    expect(specOf(docker).HostConfig).toMatchObject({
      CapDrop: ["ALL"],
      Privileged: false,
      SecurityOpt: ["no-new-privileges:true"],
      IpcMode: "private",
    });
    expect(specOf(docker).HostConfig).not.toHaveProperty("PidMode");
  }
});
