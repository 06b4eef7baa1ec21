import { randomUUID } from "node:crypto";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import { completeAgent, type Environment, type ResolvedAgent } from "@herdctl/config";
import { UserError } from "@herdctl/protocol";
import { findClaude } from "../../claude/binary.ts";
import { configDirOf } from "../../claude/credential.ts";
import { containerPaths } from "../../lib/container-layout.ts";
import { type RunOrder, sessionHomeKindOf } from "../contract/run-order.ts";
import { openRun } from "../execution/open-run.ts";
import { spendLogPath } from "../gateway/metering/spend-log.ts";
import { SpendMeter } from "../gateway/metering/spend-meter.ts";
import type { ExecuteOptions, ExecuteRequest } from "./runtime-interface.ts";

type Execute = (options: ExecuteOptions) => AsyncIterable<SDKMessage>;

/**
 * Fills in the options that a caller left out, in the same way as for a job: the credential stays in a
 * gateway, the environment is an allow-list, and the processes of the run end with it.
 */
export async function* executeCompleted(
  request: ExecuteRequest,
  execute: Execute,
  environment: Environment = process.env,
): AsyncGenerator<SDKMessage> {
  if (isComplete(request)) return yield* execute(request);
  const { options, close } = await openExecution(request, environment);
  try {
    yield* execute(options);
  } finally {
    await close();
  }
}

/** A job passes a complete agent together with all other options. */
function isComplete(request: ExecuteRequest): request is ExecuteOptions {
  const { session, claude, cwd, env, privateDir, signal } = request;
  return [session, claude, cwd, env, privateDir, signal].every((option) => option !== undefined);
}

async function openExecution(request: ExecuteRequest, environment: Environment) {
  const agent = completeAgent(request.agent);
  const order = orderOf(request, agent, environment);
  const folder = await mkdtemp(join(tmpdir(), "herdctl-run-"));
  const gitDir = agent.docker.enabled ? join(folder, "git") : undefined;
  const meter = new SpendMeter({ logPath: spendLogPath(folder, order.attempt) });
  const opened = await openRun(order, environment, folder, { folder, gitDir, meter });
  if (opened.kind === "refused") {
    const { message, hint } = opened.refused;
    throw new UserError("usage", message, { hint });
  }
  const { run } = opened;
  const options: ExecuteOptions = {
    ...request,
    env: request.env ?? run.env,
    privateDir: request.privateDir ?? run.privateDir,
    socketDir: request.socketDir ?? run.socketDir,
    authFile: request.authFile ?? run.authFile,
    gitDir: request.gitDir ?? run.gitDir,
    signal: request.signal ?? new AbortController().signal,
    agent,
    prompt: order.prompt,
    session: order.session,
    claude: order.claude.path,
    cwd: order.cwd,
    observer: {
      ...request.observer,
      onSpawned: (pid) => {
        if (pid !== undefined) run.processTracker.track(pid);
        request.observer?.onSpawned?.(pid);
      },
    },
  };
  const close = async () => {
    await run.processTracker.kill();
    run.endTurn();
    await run.close();
  };
  return { options, close };
}

function orderOf(
  { prompt, session, claude, cwd, claudeVersion = null }: ExecuteRequest,
  agent: ResolvedAgent,
  environment: Environment,
): RunOrder {
  return {
    jobId: `run-${randomUUID()}`,
    attempt: 1,
    agent,
    prompt,
    place: sessionHomeKindOf(agent),
    cwd: cwd ?? agent.working_directory.path,
    session: session ?? { kind: "fresh", sessionId: randomUUID() },
    configDir: configDirOf(environment),
    claude: { path: claude ?? claudePathOf(agent, environment), version: claudeVersion },
    partialMessages: false,
  };
}

function claudePathOf({ docker }: ResolvedAgent, environment: Environment): string {
  if (docker.enabled) return containerPaths.claude;
  const found = findClaude({ env: environment });
  if (found.kind === "found") return found.path;
  throw new UserError("runtime_missing", found.message, { hint: found.hint });
}
