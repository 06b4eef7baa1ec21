import { randomBytes, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Environment, ResolvedAgent } from "@herdctl/config";
import { UserError } from "@herdctl/protocol";
import { resolveDockerConfig } from "../../docker/docker-config.ts";
import { containerPaths } from "../../lib/container-layout.ts";
import { withTimeout } from "../../lib/timeout.ts";
import { containerSessionsDir } from "../../runner/containers/container-plan.ts";
import type { RunOrder } from "../../runner/contract/run-order.ts";
import { type OpenRun, openRun } from "../../runner/execution/open-run.ts";
import { ContainerRunner } from "../../runner/runtimes/container-runner.ts";
import type { RuntimeInterface } from "../../runner/runtimes/runtime-interface.ts";
import { ensurePrivateDir } from "../../store/files/job-folder.ts";
import { cloneOwner, prepareWorkspace } from "../../workspaces/prepare-workspace.ts";
import { type Finding, failed } from "../check.ts";
import type { Evidence } from "./evaluate-evidence.ts";
import { collectSecrets, evaluateEvidence, findSecrets } from "./evaluate-evidence.ts";
import { listenForToken, probeContainer, searchFiles } from "./probe-container.ts";

interface SelfTestOptions {
  env: Environment;
  stateDir: string;
  signal: AbortSignal;
}

const stepTimeoutMs = 120_000;

/**
 * Starts an agent's container like a job would, but with test scripts in place of `claude`, and checks
 * what they can read and which hosts they can reach.
 */
export async function selfTest(agent: ResolvedAgent, options: SelfTestOptions): Promise<Finding[]> {
  try {
    return evaluateEvidence(agent, await gatherEvidence(agent, options));
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return [{ ...failed("self-test", error.message, error.hint), agent: agent.name }];
  }
}

async function gatherEvidence(
  agent: ResolvedAgent,
  { env, stateDir, signal }: SelfTestOptions,
): Promise<Evidence> {
  const [token, canary] = [randomBytes(16).toString("hex"), randomBytes(24).toString("hex")];
  const secrets = [
    ...collectSecrets(env, agent),
    { name: "the API key", value: canary, isApiCredential: true },
  ];
  const usesGateway = agent.docker.auth !== "env" && agent.docker.auth !== "mount";
  const testEnv = usesGateway ? { ...env, ANTHROPIC_API_KEY: canary } : env;
  const jobDir = mkdtempSync(join(ensurePrivateDir(stateDir), "self-test-"));
  const listeners = await listenForToken(token);
  try {
    const order = await createRunOrder(agent, stateDir, signal);
    return await withOpenRun(order, testEnv, jobDir, async (run) => {
      const runScript = (program: RuntimeInterface) =>
        runInContainer(program, { order, run, env: testEnv, stateDir, signal });
      const isSealed = agent.docker.network === "none";
      const report = await probeContainer(runScript, { token, isSealed, listeners });
      const { secretMatches, fileCount } = await searchFiles(runScript, secrets);
      const processMatches = [...report.processes].flatMap(([path, content]) =>
        findSecrets(path, Buffer.from(content), secrets),
      );
      return {
        report,
        secretMatches: [...processMatches, ...secretMatches],
        fileCount,
        arrivals: listeners.arrivals(),
        refusedByProxies: run.refusedRequests().map(({ target }) => target),
      };
    });
  } finally {
    await listeners.close();
    rmSync(jobDir, { recursive: true, force: true });
  }
}

async function createRunOrder(
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
    configDir: containerSessionsDir(stateDir, agent.name),
    claude: { path: containerPaths.claude, version: null },
    partialMessages: false,
  };
}

async function withOpenRun<T>(
  order: RunOrder,
  env: Environment,
  jobDir: string,
  callback: (run: OpenRun) => Promise<T>,
): Promise<T> {
  const opened = await openRun(order, env, jobDir);
  if (opened.kind === "refused") {
    const { message, hint } = opened.refused;
    throw new UserError("container_refused", message ?? "There is no matching credential.", {
      hint,
    });
  }
  try {
    return await callback(opened.run);
  } finally {
    await opened.run.close();
  }
}

interface TestRunContext {
  order: RunOrder;
  run: OpenRun;
  env: Environment;
  stateDir: string;
  signal: AbortSignal;
}

function runInContainer(program: RuntimeInterface, testRun: TestRunContext): Promise<void> {
  return withTimeout(testRun.signal, stepTimeoutMs, (signal) =>
    runToEnd(program, { ...testRun, signal }),
  );
}

async function runToEnd(program: RuntimeInterface, testRun: TestRunContext): Promise<void> {
  const { order, run, env, stateDir, signal } = testRun;
  const runner = new ContainerRunner(
    program,
    resolveDockerConfig(order.agent.docker),
    stateDir,
    env,
  );
  const messages = runner.execute({
    agent: order.agent,
    prompt: order.prompt,
    session: order.session,
    claude: order.claude.path,
    cwd: order.cwd,
    env: run.env,
    privateDir: run.privateDir,
    socketDir: run.socketDir,
    authFile: run.authFile,
    run: { jobId: order.jobId, attempt: order.attempt },
    signal,
  });
  for await (const _ of messages);
}
