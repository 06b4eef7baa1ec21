import { randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import type { Environment } from "../../config/environment.ts";
import { isGitOutOfDate } from "../git/private-session.ts";
import { ContainerManager } from "../runtime/container-manager.ts";
import type { DockerConfig } from "../runtime/docker-config.ts";
import type { ExecuteOptions } from "../runtime/interface.ts";
import { hostServers } from "../runtime/mcp/host-servers.ts";
import { sessionFilePath } from "../runtime/session-file/path.ts";
import { spawnInContainer, type WaitingContainer } from "./container-process.ts";
import { containerEnvironment } from "./environment.ts";
import { gitVariables, writeGitConfig } from "./git-config.ts";
import { type ContainerJob, containerName } from "./labels.ts";
import { inside } from "./layout.ts";
import {
  type ContainerSite,
  type OpenedContainer,
  openContainer,
  printOf,
} from "./open-container.ts";
import { letRead } from "./own-folder.ts";
import {
  type ContainerPlan,
  planContainer,
  pluginInside,
  prepareGit,
  sessionsDir,
} from "./plan.ts";
import type { SpareContainer } from "./spare.ts";
import { freeMountpoints, removeContainersOf } from "./sweep-containers.ts";

export interface RunSite {
  config: DockerConfig;
  stateDir: string;
  /** Names the engine, as for the `docker` command. */
  environment: Environment;
}

/** The container of one run of claude, from its making to its removal. */
export class RunContainer {
  private readonly print: string;
  private git: string | undefined;

  private constructor(
    private readonly site: ContainerSite,
    private readonly environment: Environment,
    private readonly given: ExecuteOptions,
    private readonly plan: ContainerPlan,
    private readonly container: WaitingContainer,
  ) {
    this.print = printOf(site, plan);
  }

  static async open(runSite: RunSite, options: ExecuteOptions): Promise<RunContainer> {
    const { config, stateDir, environment } = runSite;
    const { observer, privateDir, run } = options;
    const manager = await ContainerManager.connect(environment);
    const engine = await manager.engineFacts(config.image);
    const site = { manager, engine, config, stateDir };
    // An engine that was gone may have kept what an earlier attempt of the job was doing.
    if (run) await removeContainersOf(manager, stateDir, run.jobId);
    mkdirSync(privateDir, { recursive: true, mode: 0o700 });
    const { plan, begun } = await openOrTake(site, options);
    const opened = new RunContainer(site, environment, options, plan, begun);
    try {
      writeGitConfig(privateDir, config.agent, plan.workspace);
      if (options.ahead) opened.git = await opened.askGit();
    } catch (error) {
      await opened.remove();
      throw error;
    }
    for (const text of plan.warnings) observer?.warning?.(text);
    observer?.container?.({ id: opened.id, image: engine.image });
    return opened;
  }

  get manager(): ContainerManager {
    return this.site.manager;
  }

  get id(): string {
    return this.container.id;
  }

  /** What a runtime is to be told, so that it starts its `claude` in here and does not know. */
  get options(): ExecuteOptions {
    const { given, manager, container, plan, environment } = this;
    const { config, engine, stateDir } = this.site;
    const { agent, observer, privateDir, session } = given;
    const configDir = sessionsDir(stateDir, config.agent);
    return {
      ...given,
      agent: { ...agent, plugins: agent.plugins.map((_, index) => pluginInside(index)) },
      claude: inside.claude,
      cwd: inside.workspace,
      env: containerEnvironment(given, config, plan.mounts),
      bridgedServers: { ...hostServers(agent, environment, given.env), ...given.bridgedServers },
      privateDirInside: inside.privateDir,
      sessionFile: sessionFilePath({ place: "docker", configDir, cwd: "" }, session.sessionId),
      spawn: spawnInContainer(manager, container, {
        beforeStart: () => letRead(privateDir),
        onEnd: (seen) => observer?.container?.({ ...seen, image: engine.image }),
      }),
    };
  }

  /** A run that is begun now would be given something else, or told something else of its repository. */
  async isOutOfDate(): Promise<boolean> {
    const { config, stateDir } = this.site;
    try {
      const plan = await planContainer(config, this.given, stateDir, this.plan.git?.traps);
      if (printOf(this.site, plan) !== this.print) return true;
      if (this.given.gitDir && (await isGitOutOfDate(this.given.gitDir))) return true;
      if (!(await this.manager.isOfImage(this.id, config.image))) return true;
      return this.git !== undefined && this.git !== (await this.askGit());
    } catch {
      return true;
    }
  }

  /** Where the engine is gone, whoever comes next finds the container by its labels. */
  async remove(): Promise<void> {
    try {
      await this.manager.remove(this.id);
      await freeMountpoints(this.manager, this.site.stateDir);
    } catch {
      return;
    }
  }

  /** In here, because a repository can name programs for git to run. */
  private async askGit(): Promise<string> {
    if (this.plan.git?.found.kind !== "found") return "";
    letRead(this.given.privateDir);
    return await this.manager.ask(this.id, {
      command: ["git", "--no-optional-locks", "status", "--porcelain=v2", "--branch"],
      cwd: inside.workspace,
      env: gitVariables,
    });
  }
}

async function openOrTake(
  site: ContainerSite,
  options: ExecuteOptions,
): Promise<OpenedContainer<WaitingContainer>> {
  const { manager } = site;
  const who = options.run ?? { jobId: `run-${randomUUID()}`, attempt: 1 };
  const taken = options.spare && (await takeSpare(site, options, options.spare, who));
  if (taken) return taken;
  return await openContainer(site, options, who, async (id) => {
    const attached = await manager.attach(id);
    await manager.start(id);
    return { id, attached, end: manager.end(id, attached) };
  });
}

/** A spare that is not just what this run would be given, or has gone, is no help. */
async function takeSpare(
  site: ContainerSite,
  options: ExecuteOptions,
  { id, print }: SpareContainer,
  who: ContainerJob,
): Promise<OpenedContainer<WaitingContainer> | undefined> {
  const { manager, config, stateDir } = site;
  const plan = await planContainer(config, options, stateDir);
  try {
    if (printOf(site, plan) !== print) throw new Error("it was made for something else");
    await prepareGit(config, options, plan, stateDir);
    await manager.rename(id, containerName(who));
    const attached = await manager.attach(id);
    return { id, plan, begun: { id, attached, end: manager.end(id, attached) } };
  } catch {
    await manager.remove(id).catch(() => undefined);
    return undefined;
  }
}
