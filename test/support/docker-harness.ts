import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chownSync } from "node:fs";
import { join } from "node:path";
import {
  ContainerRunner,
  type RuntimeInterface,
  resolveDockerConfig,
} from "@herdctl/core/internal";
import type { RehearsalOptions } from "@herdctl/rehearsal";
import { onTestFinished } from "vitest";
import { shortHash } from "../../packages/core/src/docker/container-labels.ts";
import { containerPaths } from "../../packages/core/src/lib/container-layout.ts";
import { openSocketFolder } from "../../packages/core/src/runner/containers/container-folders.ts";
import { startGateway } from "../../packages/core/src/runner/gateway/gateway.ts";
import { createHostServers } from "../../packages/core/src/runner/runtimes/mcp/bridges.ts";
import { killLeftoversIfFailed } from "./cleanup-after-failure.ts";
import type { TestEngine } from "./docker-engine.ts";
import { waitUntil } from "./fleet-child-process.ts";
import { agentOf, inlineAgent, loadTestFleet } from "./fleet-config.ts";
import { startHarness, type TestHarness } from "./harness.ts";
import { type JobOptions, runJob } from "./run-job.ts";
import type { RuntimeSetup, RuntimeUnderTest } from "./runtimes-under-test.ts";

/** The user in test containers. */
export const containerUser = { uid: 1000, gid: 1000 };

/** A harness whose workspace belongs to an ordinary user and whose environment names the engine. */
export async function startDockerHarness(
  engine: TestEngine,
  options: RehearsalOptions = {},
): Promise<TestHarness> {
  const harness = await startHarness(options);
  onTestFinished(async (result) => {
    if (!(await killLeftoversIfFailed(result, harness.root))) return;
    for (const name of listContainers(engine, workspaceLabel(harness)))
      docker(engine, "rm", "-f", name);
  });
  chownSync(harness.workspace, containerUser.uid, containerUser.gid);
  return { ...harness, env: { ...harness.env, DOCKER_HOST: engine.dockerHost } };
}

/** Runs one job in a container, by the same code as the fleet. */
export function runJobInContainer(
  harness: TestHarness,
  { yaml = "", ...options }: JobOptions = {},
) {
  const docker = /^docker:/m.test(yaml) ? yaml : `docker: { enabled: true }\n${yaml}`;
  return runJob(harness, { yaml: docker, ...options });
}

/** A runtime in a container without network, with a gateway's socket as its only way out. */
export function containerizedRuntime(
  engine: TestEngine,
  name: string,
  create: () => RuntimeInterface,
): RuntimeUnderTest {
  return {
    name: `${name} in Docker`,
    version: "325",
    create,
    workspacePath: () => containerPaths.workspace,
    setUp: (harness, yaml) => setUp(engine, harness, yaml, create),
  };
}

async function setUp(
  engine: TestEngine,
  harness: TestHarness,
  yaml: string,
  create: () => RuntimeInterface,
): Promise<RuntimeSetup> {
  chownSync(harness.workspace, containerUser.uid, containerUser.gid);
  const socketFolder = openSocketFolder(join(harness.home, "proxy"));
  const gateway = await startGateway({
    upstream: harness.env.ANTHROPIC_BASE_URL ?? "",
    credential: { kind: "api_key", value: "sk-of-the-gateway" },
    socketPath: socketFolder.socketPathFor("api.sock"),
    socketMode: 0o666,
  });
  onTestFinished(async () => {
    await gateway.stop();
    socketFolder.close();
  });
  const agent = agentOf(
    loadTestFleet(
      inlineAgent(`working_directory: ${harness.workspace}\ndocker: { enabled: true }\n${yaml}`),
    ),
    "one",
  );
  const runMarkers = { HERDCTL_RUN: `test.${randomUUID()}` };
  const engineEnv = { DOCKER_HOST: engine.dockerHost };
  return {
    agent,
    runtime: new ContainerRunner(
      create(),
      resolveDockerConfig(agent.docker),
      join(harness.home, "state"),
      engineEnv,
    ),
    options: {
      socketDir: socketFolder.folder,
      bridgedServers: createHostServers(agent, harness.env, runMarkers),
    },
    env: {
      ANTHROPIC_BASE_URL: gateway.baseUrl,
      ANTHROPIC_UNIX_SOCKET: join(socketFolder.folder, "api.sock"),
      ANTHROPIC_API_KEY: gateway.placeholder,
    },
  };
}

/** The names of the containers of a job, in any state. */
export function containersOfJob(engine: TestEngine, jobId: string): string[] {
  return listContainers(engine, `label=herdctl.job=${jobId}`);
}

function listContainers(engine: TestEngine, filter: string): string[] {
  const names = docker(engine, "ps", "-a", "--filter", filter, "--format", "{{.Names}}");
  return names.split("\n").filter(Boolean);
}

/** The `docker` command with the test engine. */
export function docker(engine: TestEngine, ...args: string[]): string {
  return execFileSync("docker", ["-H", engine.dockerHost, ...args], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  }).trim();
}

/** Waits for the tool of this harness's container to start, and returns the container's name. */
export async function runningContainer(engine: TestEngine, harness: TestHarness): Promise<string> {
  return await waitUntil("a container runs", async () => {
    const wasModelCalled = harness.rehearsal.ledger.main.length > 0;
    const names = docker(
      engine,
      "ps",
      "--filter",
      workspaceLabel(harness),
      "--format",
      "{{.Names}}",
    );
    return wasModelCalled && names.split("\n")[0];
  });
}

function workspaceLabel(harness: TestHarness): string {
  return `label=herdctl.workspace=${shortHash(harness.workspace)}`;
}

/** Gives a folder and its content to the container user. */
export function chownToContainerUser(folder: string): void {
  execFileSync("chown", ["-R", `${containerUser.uid}:${containerUser.gid}`, folder]);
}
