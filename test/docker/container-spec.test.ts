import { readFileSync } from "node:fs";
import { resolveDockerConfig } from "@herdctl/core/internal";
import { expect, test } from "vitest";
import { buildContainerSpec } from "../../packages/core/src/runner/containers/container-spec.ts";
import { seccompOption } from "../../packages/core/src/runner/containers/seccomp-profile.ts";
import { agentOf, inlineAgent, loadTestFleet } from "../support/fleet-config.ts";

const golden = JSON.parse(
  readFileSync(new URL("golden/default-container.json", import.meta.url), "utf8"),
);

const containerFacts = {
  identity: {
    fleet: "0123456789abcdef",
    agent: "one",
    workspace: "/srv/repo",
    job: { jobId: "job-2026-01-01-abcdefghjk", attempt: 1 },
  },
  user: { uid: 1000, gid: 1000 },
  mounts: [{ source: "/srv/repo", target: "/workspace", readOnly: false }],
  engine: {
    image: { name: "herdctl/agent:test", id: `sha256:${"1".repeat(64)}` },
    cpus: 8,
    diskQuota: false,
  },
};

function specOf(docker: string, engine: Partial<typeof containerFacts.engine> = {}) {
  const yaml = `working_directory: /srv/repo\ndocker: { enabled: true, image: "herdctl/agent:test"${docker && `, ${docker}`} }`;
  return buildContainerSpec(
    resolveDockerConfig(agentOf(loadTestFleet(inlineAgent(yaml)), "one").docker),
    {
      ...containerFacts,
      engine: { ...containerFacts.engine, ...engine },
    },
  );
}

test("matches the reviewed description of a default container", () => {
  const { HostConfig, ...rest } = JSON.parse(JSON.stringify(specOf("")));
  const SecurityOpt = HostConfig.SecurityOpt.map(withoutProfile);
  expect({ ...rest, HostConfig: { ...HostConfig, SecurityOpt } }).toEqual(golden);
});

test("names the image by id, so that a moved tag changes nothing", () => {
  expect(specOf("").Image).toBe(containerFacts.engine.image.id);
});

test("limits processors to 2 or fewer on a smaller engine, and sets no limit where the engine has none", () => {
  const cpusFor = (cpus: number | undefined) => specOf("", { cpus }).HostConfig?.NanoCpus;
  expect([8, 1, undefined].map(cpusFor)).toEqual([2e9, 1e9, undefined]);
});

test("sets a quota for a writable root where the engine supports quotas", () => {
  const quota = (docker: string, diskQuota: boolean) =>
    specOf(docker, { diskQuota }).HostConfig?.StorageOpt;
  expect(quota("read_only: false, disk: 3g", true)).toEqual({ size: String(3 * 1024 ** 3) });
  expect(quota("read_only: false", false)).toBeUndefined();
  expect(quota("", true)).toBeUndefined();
});

const optionCases: [docker: string, expected: object][] = [
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

test.each(optionCases)("applies %s", (docker, expected) => {
  expect(specOf(docker)).toMatchObject(expected);
});

test("adds no capability, privilege or host namespace for any option of an agent", () => {
  for (const [docker] of optionCases) {
    expect(specOf(docker).HostConfig).toMatchObject({
      CapDrop: ["ALL"],
      Privileged: false,
      SecurityOpt: ["no-new-privileges:true", seccompOption],
      IpcMode: "private",
    });
    expect(specOf(docker).HostConfig).not.toHaveProperty("PidMode");
  }
});

/** A separate golden file covers the seccomp profile. */
function withoutProfile(option: string): string {
  return option === seccompOption ? "seccomp=(profile)" : option;
}
