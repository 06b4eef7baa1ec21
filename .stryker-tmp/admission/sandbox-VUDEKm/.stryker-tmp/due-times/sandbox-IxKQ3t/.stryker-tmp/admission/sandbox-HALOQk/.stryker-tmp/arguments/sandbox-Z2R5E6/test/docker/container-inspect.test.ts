import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { seccompOption } from "../../packages/core/src/runner/containers/seccomp-profile.ts";
import { sharedEngine } from "../support/docker-engine.ts";
import {
  docker,
  runJobInContainer,
  runningContainer,
  startDockerHarness,
} from "../support/docker-harness.ts";
import { toolCallPrompt } from "../support/runtimes-under-test.ts";

const engine = await sharedEngine();
const secret = `sk-ant-${"s".repeat(40)}`;

const golden = JSON.parse(readFileSync(new URL("golden/inspect.json", import.meta.url), "utf8"));

test("keeps the reviewed settings of a default job's container", async () => {
  expect(stableSettings(await inspectRunningContainer())).toEqual(golden);
});

test("shows no argument, variable or secret of the run in the container's description", async () => {
  const text = JSON.stringify(await inspectRunningContainer());
  for (const hidden of [secret, "--session-id", "--mcp-config", "ANTHROPIC", "HERDCTL_RUN"]) {
    expect(text).not.toContain(hidden);
  }
});

test("uses the image's id in the container and records id and name", async () => {
  const harness = await startDockerHarness(engine);
  const id = docker(engine, "image", "inspect", "--format", "{{.Id}}", engine.image);
  const { job } = await runJobInContainer(harness);
  expect(job.container_image).toEqual({ name: engine.image, id });
  expect((await inspectRunningContainer()).Config.Image).toBe(id);
});

/** CIS Docker Benchmark 1.6, section 5: the items that a container's settings decide. */
const cisBenchmark: [item: string, holds: (seen: Inspected) => boolean][] = [
  [
    "5.1 AppArmor is not turned off",
    ({ HostConfig }) => !options(HostConfig).includes("apparmor=unconfined"),
  ],
  [
    "5.3 no capability beyond need",
    ({ HostConfig }) => HostConfig.CapDrop?.join() === "ALL" && !HostConfig.CapAdd?.length,
  ],
  ["5.4 not privileged", ({ HostConfig }) => !HostConfig.Privileged],
  [
    "5.5 no sensitive folder of the host",
    ({ Mounts }) =>
      !Mounts.some(({ Source }) => /^\/(boot|dev|etc|lib|proc|sys|usr)?$/.test(Source)),
  ],
  [
    "5.7 no privileged port",
    ({ HostConfig }) => Object.keys(HostConfig.PortBindings ?? {}).length === 0,
  ],
  [
    "5.8 no open port",
    ({ NetworkSettings }) => Object.keys(NetworkSettings.Ports ?? {}).length === 0,
  ],
  ["5.9 not the host's network", ({ HostConfig }) => HostConfig.NetworkMode === "none"],
  [
    "5.10 memory is limited",
    ({ HostConfig }) => HostConfig.Memory > 0 && HostConfig.MemorySwap === HostConfig.Memory,
  ],
  ["5.11 processors are limited", ({ HostConfig }) => HostConfig.NanoCpus > 0],
  ["5.12 the root is read-only", ({ HostConfig }) => HostConfig.ReadonlyRootfs],
  [
    "5.14 it is not restarted again and again",
    ({ HostConfig }) => HostConfig.RestartPolicy.Name === "no",
  ],
  ["5.15 not the host's processes", ({ HostConfig }) => HostConfig.PidMode === ""],
  ["5.16 not the host's IPC", ({ HostConfig }) => HostConfig.IpcMode === "private"],
  ["5.17 no device of the host", ({ HostConfig }) => !HostConfig.Devices?.length],
  [
    "5.19 no shared propagation",
    ({ Mounts }) => Mounts.every(({ Propagation }) => Propagation === "rprivate"),
  ],
  ["5.20 not the host's UTS", ({ HostConfig }) => HostConfig.UTSMode === ""],
  [
    "5.21 seccomp is not turned off",
    ({ HostConfig }) => options(HostConfig).includes(seccompOption),
  ],
  ["5.24 the default cgroup", ({ HostConfig }) => HostConfig.CgroupParent === ""],
  [
    "5.25 no new privileges",
    ({ HostConfig }) => options(HostConfig).includes("no-new-privileges:true"),
  ],
  ["5.28 processes are limited", ({ HostConfig }) => HostConfig.PidsLimit === 512],
  ["5.29 not the default bridge", ({ NetworkSettings }) => !("bridge" in NetworkSettings.Networks)],
  ["5.30 not the host's users", ({ HostConfig }) => HostConfig.UsernsMode === ""],
  [
    "5.31 no socket of the engine",
    ({ Mounts }) => !Mounts.some(({ Source }) => Source.endsWith("docker.sock")),
  ],
];

test("satisfies every applicable item of the CIS Docker Benchmark", async () => {
  const seen = await inspectRunningContainer();
  expect(cisBenchmark.filter(([, holds]) => !holds(seen)).map(([item]) => item)).toEqual([]);
});

interface Inspected {
  Config: Record<string, unknown>;
  HostConfig: {
    CapDrop?: string[];
    CapAdd?: string[];
    SecurityOpt?: string[];
    Privileged: boolean;
    PortBindings?: object;
    NetworkMode: string;
    Memory: number;
    MemorySwap: number;
    PidsLimit: number;
    NanoCpus: number;
    ReadonlyRootfs: boolean;
    RestartPolicy: { Name: string };
    PidMode: string;
    IpcMode: string;
    UTSMode: string;
    UsernsMode: string;
    CgroupParent: string;
    Devices?: unknown[];
  };
  Mounts: { Source: string; Destination: string; RW: boolean; Propagation: string }[];
  NetworkSettings: { Ports?: object; Networks: object };
}

function options({ SecurityOpt = [] }: Inspected["HostConfig"]): string[] {
  return SecurityOpt;
}

async function inspectRunningContainer(): Promise<Inspected> {
  const harness = await startDockerHarness(engine, { mode: "obedient" });
  const stopping = new AbortController();
  const running = runJobInContainer(harness, {
    env: { ANTHROPIC_API_KEY: secret },
    prompt: toolCallPrompt(["Bash", { command: "sleep 60" }]),
    signal: stopping.signal,
  });
  const name = await runningContainer(engine, harness);
  const [seen] = JSON.parse(docker(engine, "inspect", name));
  stopping.abort();
  await running;
  return seen;
}

/** Removes values that differ each time or are empty. */
function stableSettings({ Config, HostConfig, Mounts }: Inspected) {
  const SecurityOpt = options(HostConfig).map((one) =>
    one.replace(seccompOption, "seccomp=(profile)"),
  );
  const own = {
    ...HostConfig,
    SecurityOpt,
    NanoCpus: 0,
    MaskedPaths: [],
    ReadonlyPaths: [],
    ContainerIDFile: "",
  };
  const mounts = Mounts.map(({ Destination, RW, Propagation }) => ({
    Destination,
    RW,
    Propagation,
  }));
  return {
    Config: withoutEmptyValues({
      ...Config,
      Image: "",
      Labels: Object.keys(Config.Labels ?? {}).sort(),
    }),
    HostConfig: withoutEmptyValues({ ...own, Mounts: [], ConsoleSize: [], OomScoreAdj: 0 }),
    Mounts: mounts.sort((a, b) => a.Destination.localeCompare(b.Destination)),
  };
}

function withoutEmptyValues(settings: object): object {
  const isEmpty = (value: unknown) =>
    !value || (typeof value === "object" && Object.keys(value).length === 0);
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => !isEmpty(value)));
}
