import { randomBytes, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "../../config/environment.ts";
import type { ResolvedAgent } from "../../config/resolve.ts";
import { UserError } from "../../errors/user-error.ts";
import { inside } from "../../runner/container/layout.ts";
import { sessionsDir } from "../../runner/container/plan.ts";
import { type OpenRun, openRun } from "../../runner/open-run.ts";
import type { RunOrder } from "../../runner/run-order.ts";
import { ContainerRunner } from "../../runner/runtime/container-runner.ts";
import { resolveDockerConfig } from "../../runner/runtime/docker-config.ts";
import type { RuntimeInterface } from "../../runner/runtime/interface.ts";
import { withinTime } from "../../runner/within-time.ts";
import { prepareWorkspace } from "../../runner/workspace.ts";
import { cloneOwner } from "../../runner/workspace-owner.ts";
import { ensureFolder } from "../../state/folder.ts";
import { type Finding, failed } from "../check.ts";
import { judge } from "./judge.ts";
import { listenForWord } from "./listeners.ts";
import { probe, searchFiles } from "./look-inside.ts";
import type { Evidence } from "./observed.ts";
import { searchIn, secretsOf } from "./search.ts";

export interface SelfTestOptions {
  env: Environment;
  stateDir: string;
  signal: AbortSignal;
}

const patience = 120_000;

/**
 * Starts an agent's container exactly as a job would, with programs of ours in the place of
 * `claude`, and finds out what they can read and whom they can reach.
 */
export async function selfTest(agent: ResolvedAgent, options: SelfTestOptions): Promise<Finding[]> {
  try {
    return judge(agent, await gather(agent, options));
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return [{ ...failed("self-test", error.message, error.hint), agent: agent.name }];
  }
}

async function gather(
  agent: ResolvedAgent,
  { env, stateDir, signal }: SelfTestOptions,
): Promise<Evidence> {
  const [word, canary] = [randomBytes(16).toString("hex"), randomBytes(24).toString("hex")];
  const secrets = [...secretsOf(env, agent), { name: "the API key", value: canary }];
  const isHeldOutside = agent.docker.auth !== "env" && agent.docker.auth !== "mount";
  const given = isHeldOutside ? { ...env, ANTHROPIC_API_KEY: canary } : env;
  const jobDir = mkdtempSync(join(ensureFolder(stateDir), "self-test-"));
  const listeners = await listenForWord(word);
  try {
    const order = await orderFor(agent, stateDir, signal);
    return await withRun(order, given, jobDir, async (run) => {
      const inContainer = (program: RuntimeInterface) =>
        runInside(program, { order, run, env: given, stateDir, signal });
      const sealed = agent.docker.network === "none";
      const observed = await probe(inContainer, { word, sealed, listeners });
      const { found, files } = await searchFiles(inContainer, secrets);
      const inProcesses = [...observed.processes].flatMap(([path, content]) =>
        searchIn(path, Buffer.from(content), secrets),
      );
      return {
        observed,
        found: [...inProcesses, ...found],
        files,
        arrived: listeners.arrived(),
        refused: run.refused().map(({ what }) => what),
      };
    });
  } finally {
    await listeners.close();
    rmSync(jobDir, { recursive: true, force: true });
  }
}

async function orderFor(
  agent: ResolvedAgent,
  stateDir: string,
  signal: AbortSignal,
): Promise<RunOrder> {
  const workspace = await prepareWorkspace(agent.working_directory, signal, cloneOwner(agent));
  if (workspace.kind === "problem") {
    throw new UserError("workspace_unusable", workspace.message, { hint: workspace.hint });
  }
  return {
    jobId: `self-test-${randomUUID().slice(0, 8)}`,
    attempt: 1,
    agent,
    prompt: "",
    place: "docker",
    cwd: workspace.path,
    session: { kind: "fresh", sessionId: randomUUID() },
    configDir: sessionsDir(stateDir, agent.name),
    claude: { path: inside.claude, version: null },
    partialMessages: false,
  };
}

async function withRun<T>(
  order: RunOrder,
  env: Environment,
  jobDir: string,
  use: (run: OpenRun) => Promise<T>,
): Promise<T> {
  const opened = await openRun(order, env, jobDir);
  if (opened.kind === "refused") {
    const { message, hint } = opened.refused;
    throw new UserError("container_refused", message ?? "No credential fits.", { hint });
  }
  try {
    return await use(opened.run);
  } finally {
    await opened.run.close();
  }
}

interface Setting {
  order: RunOrder;
  run: OpenRun;
  env: Environment;
  stateDir: string;
  signal: AbortSignal;
}

function runInside(program: RuntimeInterface, setting: Setting): Promise<void> {
  return withinTime(setting.signal, patience, (signal) =>
    runToEnd(program, { ...setting, signal }),
  );
}

async function runToEnd(program: RuntimeInterface, setting: Setting): Promise<void> {
  const { order, run, env, stateDir, signal } = setting;
  const runner = new ContainerRunner(program, resolveDockerConfig(order.agent), stateDir, env);
  const messages = runner.execute({
    agent: order.agent,
    prompt: order.prompt,
    session: order.session,
    claude: order.claude.path,
    cwd: order.cwd,
    env: run.env,
    privateDir: run.privateDir,
    doorDir: run.doorDir,
    authFile: run.authFile,
    run: { jobId: order.jobId, attempt: order.attempt },
    signal,
  });
  for await (const _ of messages);
}
