import { readFileSync } from "node:fs";
import { resolveDockerConfig } from "@herdctl/core";
import { expect, test } from "vitest";
import { seccompOption } from "../../packages/core/src/runner/container/seccomp-profile.ts";
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
  engine: {
    image: { name: "herdctl/agent:test", id: `sha256:${"1".repeat(64)}` },
    cpus: 8,
    diskQuota: false,
  },
};

function specOf(docker: string, engine: Partial<typeof facts.engine> = {}) {
  const yaml = `working_directory: /srv/repo\ndocker: { enabled: true, image: "herdctl/agent:test"${docker && `, ${docker}`} }`;
  return containerSpec(resolveDockerConfig(agentOf(load(inlineAgent(yaml)), "one")), {
    ...facts,
    engine: { ...facts.engine, ...engine },
  });
}

test("the description of a default container is the one that was reviewed", () => {
  const { HostConfig, ...rest } = JSON.parse(JSON.stringify(specOf("")));
  const SecurityOpt = HostConfig.SecurityOpt.map(withoutProfile);
  expect({ ...rest, HostConfig: { ...HostConfig, SecurityOpt } }).toEqual(golden);
});

test("the container is made of the image's id, not of a name that may be moved meanwhile", () => {
  expect(specOf("").Image).toBe(facts.engine.image.id);
});

test("processors are limited to 2, to those of a smaller engine, and not where it cannot", () => {
  const cpusFor = (cpus: number | undefined) => specOf("", { cpus }).HostConfig?.NanoCpus;
  expect([8, 1, undefined].map(cpusFor)).toEqual([2e9, 1e9, undefined]);
});

test("a writable root has a quota where the engine has quotas", () => {
  const quota = (docker: string, diskQuota: boolean) =>
    specOf(docker, { diskQuota }).HostConfig?.StorageOpt;
  expect(quota("read_only: false, disk: 3g", true)).toEqual({ size: String(3 * 1024 ** 3) });
  expect(quota("read_only: false", false)).toBeUndefined();
  expect(quota("", true)).toBeUndefined();
});

const options: [docker: string, expected: object][] = [
  ["memory: 512m", { HostConfig: { Memory: 536870912, MemorySwap: 536870912 } }],
  ["cpus: 1.5", { HostConfig: { NanoCpus: 1_500_000_000 } }],
  [
    "disk: 1g",
    {
      HostConfig: {
        Ulimits: expect.arrayContaining([{ Name: "fsize", Soft: 2 ** 30, Hard: 2 ** 30 }]),
      },
    },
  ],
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
      SecurityOpt: ["no-new-privileges:true", seccompOption],
      IpcMode: "private",
    });
    expect(specOf(docker).HostConfig).not.toHaveProperty("PidMode");
  }
});

/** The profile has a golden file of its own. */
function withoutProfile(option: string): string {
  return option === seccompOption ? "seccomp=(profile)" : option;
}
