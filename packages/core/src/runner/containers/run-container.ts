import { randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import type { Environment } from "@herdctl/config";
import { raceTimeout } from "@herdctl/protocol";
import { sessionFilePath } from "../../claude/session-files/session-file-path.ts";
import {
  type AttachedStreams,
  type ContainerEnd,
  ContainerManager,
  type ContainerObservation,
} from "../../docker/container-manager.ts";
import type { DockerConfig } from "../../docker/docker-config.ts";
import { removeContainersOf, removeUnusedMountpoints } from "../../docker/remove-containers.ts";
import { containerPaths } from "../../lib/container-layout.ts";
import { isGitOutOfDate } from "../../private-git/private-git-lifecycle.ts";
import { createHostServers } from "../runtimes/mcp/bridges.ts";
import type { ExecuteOptions } from "../runtimes/runtime-interface.ts";
import type { ClaudeProcess, ProcessExit, SpawnClaude } from "../runtimes/spawn-claude.ts";
import { gitVariables, makeFolderReadable, writeGitConfig } from "./container-folders.ts";
import { type ContainerPlan, containerSessionsDir, planContainer } from "./container-plan.ts";
import { buildContainerEnvironment } from "./container-spec.ts";
import {
  type ContainerDeps,
  containerFingerprint,
  type OpenedContainer,
  openContainer,
} from "./open-container.ts";
import { withContainerPaths } from "./option-mounts.ts";

export interface RunContainerOptions {
  config: DockerConfig;
  stateDir: string;
  /** Selects the engine with the same variables as the `docker` command. */
  environment: Environment;
}

/** The container of one run of claude, from creation to removal. */
export class RunContainer {
  private readonly fingerprint: string;
  private gitStatus: string | undefined;

  private constructor(
    private readonly deps: ContainerDeps,
    private readonly environment: Environment,
    private readonly executeOptions: ExecuteOptions,
    private readonly plan: ContainerPlan,
    private readonly container: WaitingContainer,
  ) {
    this.fingerprint = containerFingerprint(deps, plan);
  }

  static async open(
    containerOptions: RunContainerOptions,
    options: ExecuteOptions,
  ): Promise<RunContainer> {
    const { config, stateDir, environment } = containerOptions;
    const { observer, privateDir, run } = options;
    const manager = await ContainerManager.connect(environment);
    const engine = await manager.engineFacts(config.image);
    const deps = { manager, engine, config, stateDir };
    // The engine may still run a container of an earlier attempt if it was unreachable in between.
    if (run) await removeContainersOf(manager, stateDir, run.jobId);
    mkdirSync(privateDir, { recursive: true, mode: 0o700 });
    const { plan, result } = await openWaitingContainer(deps, options);
    const opened = new RunContainer(deps, environment, options, plan, result);
    try {
      writeGitConfig(privateDir, options.agent.name, plan.workspace);
      if (options.isPrewarm) opened.gitStatus = await opened.readGitStatus();
    } catch (error) {
      await opened.remove();
      throw error;
    }
    for (const text of plan.warnings) observer?.onWarning?.(text);
    observer?.onContainer?.({ id: opened.id, image: engine.image });
    return opened;
  }

  get manager(): ContainerManager {
    return this.deps.manager;
  }

  get id(): string {
    return this.container.id;
  }

  /** Options for a runtime, adapted so that it starts `claude` in this container. */
  get options(): ExecuteOptions {
    const { executeOptions, manager, container, plan, environment } = this;
    const { config, engine, stateDir } = this.deps;
    const { agent, observer, privateDir, session } = executeOptions;
    const configDir = containerSessionsDir(stateDir, agent.name);
    return {
      ...executeOptions,
      agent: withContainerPaths(agent),
      claude: containerPaths.claude,
      cwd: containerPaths.workspace,
      env: buildContainerEnvironment(executeOptions, config, plan.mounts),
      bridgedServers: {
        ...createHostServers(agent, environment, executeOptions.env),
        ...executeOptions.bridgedServers,
      },
      privateDirAsSeen: containerPaths.privateDir,
      sessionFile: sessionFilePath({ place: "docker", configDir, cwd: "" }, session.sessionId),
      spawn: spawnInContainer(manager, container, {
        beforeStart: () => makeFolderReadable(privateDir),
        onEnd: (seen) => observer?.onContainer?.({ ...seen, image: engine.image }),
      }),
    };
  }

  /** Whether a container created now would have other mounts, another image or another git status. */
  async isOutdated(): Promise<boolean> {
    const { config, stateDir } = this.deps;
    try {
      const plan = await planContainer(config, this.executeOptions, stateDir, this.plan.git?.traps);
      if (
        /* defence: container-fingerprint */ containerFingerprint(this.deps, plan) !==
        this.fingerprint
      )
        return true;
      if (this.executeOptions.gitDir && (await isGitOutOfDate(this.executeOptions.gitDir)))
        return true;
      if (!(await this.manager.usesImage(this.id, config.image))) return true;
      if (this.gitStatus !== undefined && this.gitStatus !== (await this.readGitStatus()))
        return true;
      // After the first turn starts, the agent itself changes the repository.
      this.gitStatus = undefined;
      return false;
    } catch {
      return true;
    }
  }

  /** Errors are ignored: if the engine is unreachable, a later cleanup finds the container by its labels. */
  async remove(): Promise<void> {
    try {
      await this.manager.remove(this.id);
      await removeUnusedMountpoints(this.manager, this.deps.stateDir);
    } catch {
      return;
    }
  }

  /** Runs git in the container, because a repository can configure programs for git to execute. */
  private async readGitStatus(): Promise<string> {
    if (this.plan.git?.found.kind !== "found") return "";
    makeFolderReadable(this.executeOptions.privateDir);
    return await this.manager.runCommand(this.id, {
      command: ["git", "--no-optional-locks", "status", "--porcelain=v2", "--branch"],
      cwd: containerPaths.workspace,
      env: gitVariables,
    });
  }
}

async function openWaitingContainer(
  deps: ContainerDeps,
  options: ExecuteOptions,
): Promise<OpenedContainer<WaitingContainer>> {
  const { manager } = deps;
  const job = options.run ?? { jobId: `run-${randomUUID()}`, attempt: 1 };
  return await openContainer(deps, options, job, async (id) => {
    const attached = await manager.attach(id);
    await manager.start(id);
    return { id, attached, end: manager.waitForEnd(id, attached) };
  });
}

/** A started container whose launcher waits for the launch line. */
interface WaitingContainer {
  id: string;
  attached: AttachedStreams;
  end: Promise<ContainerEnd>;
}

interface ContainerHooks {
  /** Called just before the program starts. */
  beforeStart(): void;
  onEnd(seen: ContainerObservation): void;
}

/** Starts the program in a container that is already running, by writing the launch line to it. */
function spawnInContainer(
  manager: ContainerManager,
  { id, attached, end }: WaitingContainer,
  hooks: ContainerHooks,
): SpawnClaude {
  return ({ file, args, cwd, env }): ClaudeProcess => {
    hooks.beforeStart();
    attached.stdin.write(formatLaunchLine({ cwd, env, program: file, args }));
    return {
      // Its pid is only valid inside the container.
      pid: undefined,
      stdin: attached.stdin,
      stdout: attached.stdout,
      stderr: attached.stderr,
      exited: awaitExit(id, attached, end, hooks),
      kill: (signal) => void manager.kill(id, signal).catch(() => undefined),
    };
  };
}

/** Resolves after the remaining output has been read. */
async function awaitExit(
  id: string,
  attached: AttachedStreams,
  end: Promise<ContainerEnd>,
  hooks: ContainerHooks,
): Promise<ProcessExit> {
  const containerEnd = await end;
  await raceTimeout(attached.ended, outputDrainMs, () => undefined, { unref: true });
  attached.stdin.destroy();
  hooks.onEnd({ id, end: containerEnd });
  return { code: containerEnd.kind === "exited" ? containerEnd.code : null, signal: null };
}

const outputDrainMs = 2_000;

export interface LaunchCommand {
  /** A folder in the container. */
  cwd: string;
  /** Added to the environment that the container has already. */
  env: Readonly<Record<string, string>>;
  program: string;
  args: readonly string[];
}

/**
 * The line that `herdctl-launch` in the image reads from stdin before it executes the program. It
 * reads nothing beyond the end of the line.
 */
export function formatLaunchLine({ cwd, env, program, args }: LaunchCommand): string {
  if (program.includes("=")) throw new TypeError(`${program} would be taken for a variable`);
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return `${[cwd, ...variables, program, ...args].map(encodeField).join(" ")}\n`;
}

const plainPattern = /^[A-Za-z0-9_./:=,@+-]*$/;

/** The colon marks empty fields. */
function encodeField(text: string): string {
  if (text.includes("\0"))
    throw new TypeError("arguments and variables must not contain a NUL character");
  return `:${plainPattern.test(text) ? text : [...Buffer.from(text)].map(encodeByte).join("")}`;
}

function encodeByte(code: number): string {
  const character = String.fromCharCode(code);
  if (plainPattern.test(character)) return character;
  return `\\0${code.toString(8).padStart(3, "0")}`;
}
