import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chownSync } from "node:fs";
import { join } from "node:path";
import { ContainerRunner, type RuntimeInterface, resolveDockerConfig } from "@herdctl/core";
import type { RehearsalOptions } from "@herdctl/rehearsal";
import { onTestFinished } from "vitest";
import { startGateway } from "../../packages/core/src/gateway/gateway.ts";
import { openDoor } from "../../packages/core/src/runner/container/door.ts";
import { fingerprint } from "../../packages/core/src/runner/container/labels.ts";
import { inside } from "../../packages/core/src/runner/container/layout.ts";
import { hostServers } from "../../packages/core/src/runner/runtime/mcp/host-servers.ts";
import type { TestEngine } from "./engine.ts";
import { agentOf, inlineAgent, load } from "./fleet.ts";
import { until } from "./fleet-program.ts";
import { type JobOptions, runJob } from "./job.ts";
import { endIfFailed } from "./leftovers.ts";
import type { RuntimeUnderTest, Setting } from "./runtime.ts";
import { type Stage, stage } from "./stage.ts";

/** The user of the containers of tests. */
export const insider = { uid: 1000, gid: 1000 };

/** A stage whose workspace belongs to an ordinary user, and whose environment names the engine. */
export async function dockerStage(
  engine: TestEngine,
  options: RehearsalOptions = {},
): Promise<Stage> {
  const on = await stage(options);
  onTestFinished(async (over) => {
    if (!(await endIfFailed(over, on.root))) return;
    for (const name of containersWith(engine, workspaceLabel(on))) docker(engine, "rm", "-f", name);
  });
  chownSync(on.workspace, insider.uid, insider.gid);
  return { ...on, env: { ...on.env, DOCKER_HOST: engine.dockerHost } };
}

/** Runs one job in a container, by the same road as the fleet. */
export function runContained(on: Stage, { yaml = "", ...options }: JobOptions = {}) {
  const docker = /^docker:/m.test(yaml) ? yaml : `docker: { enabled: true }\n${yaml}`;
  return runJob(on, { yaml: docker, ...options });
}

/** A runtime in a container without network, with a gateway on a socket as its only way out. */
export function contained(
  engine: TestEngine,
  name: string,
  create: () => RuntimeInterface,
): RuntimeUnderTest {
  return {
    name: `${name} in Docker`,
    version: "325",
    create,
    seenAs: () => inside.workspace,
    setUp: (on, yaml) => setUp(engine, on, yaml, create),
  };
}

async function setUp(
  engine: TestEngine,
  on: Stage,
  yaml: string,
  create: () => RuntimeInterface,
): Promise<Setting> {
  chownSync(on.workspace, insider.uid, insider.gid);
  const door = openDoor(join(on.home, "door"));
  const gateway = await startGateway({
    upstream: on.env.ANTHROPIC_BASE_URL ?? "",
    credential: { kind: "api_key", value: "sk-of-the-gateway" },
    socketPath: door.listenAt("api.sock"),
    socketMode: 0o666,
  });
  onTestFinished(async () => {
    await gateway.stop();
    door.close();
  });
  const agent = agentOf(
    load(inlineAgent(`working_directory: ${on.workspace}\ndocker: { enabled: true }\n${yaml}`)),
    "one",
  );
  const signs = { HERDCTL_RUN: `test.${randomUUID()}` };
  const engineEnv = { DOCKER_HOST: engine.dockerHost };
  return {
    agent,
    runtime: new ContainerRunner(
      create(),
      resolveDockerConfig(agent),
      join(on.home, "state"),
      engineEnv,
    ),
    options: { doorDir: door.folder, bridgedServers: hostServers(agent, on.env, signs) },
    env: {
      ANTHROPIC_BASE_URL: gateway.baseUrl,
      ANTHROPIC_UNIX_SOCKET: join(door.folder, "api.sock"),
      ANTHROPIC_API_KEY: gateway.placeholder,
    },
  };
}

/** The names of the containers of a job, in whatever state. */
export function containersOf(engine: TestEngine, jobId: string): string[] {
  return containersWith(engine, `label=herdctl.job=${jobId}`);
}

function containersWith(engine: TestEngine, filter: string): string[] {
  const names = docker(engine, "ps", "-a", "--filter", filter, "--format", "{{.Names}}");
  return names.split("\n").filter(Boolean);
}

/** The `docker` command on the tests' engine. */
export function docker(engine: TestEngine, ...args: string[]): string {
  return execFileSync("docker", ["-H", engine.dockerHost, ...args], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  }).trim();
}

/** The name of the container that a fleet or job of this stage runs now, once its tool is at work. */
export async function runningContainer(engine: TestEngine, on: Stage): Promise<string> {
  return await until("a container runs", async () => {
    const asked = on.rehearsal.ledger.main.length > 0;
    const names = docker(engine, "ps", "--filter", workspaceLabel(on), "--format", "{{.Names}}");
    return asked && names.split("\n")[0];
  });
}

function workspaceLabel(on: Stage): string {
  return `label=herdctl.workspace=${fingerprint(on.workspace)}`;
}

/** Makes a folder and all in it the containers' user's. */
export function giveAll(folder: string): void {
  execFileSync("chown", ["-R", `${insider.uid}:${insider.gid}`, folder]);
}
