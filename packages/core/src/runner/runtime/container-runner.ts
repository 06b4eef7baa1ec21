import { randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import type { Environment } from "../../config/environment.ts";
import { spawnInContainer, type WaitingContainer } from "../container/container-process.ts";
import { containerEnvironment } from "../container/environment.ts";
import { writeGitConfig } from "../container/git-config.ts";
import { type ContainerJob, containerName } from "../container/labels.ts";
import { inside } from "../container/layout.ts";
import { type OpenedContainer, openContainer, printOf } from "../container/open-container.ts";
import { letRead } from "../container/own-folder.ts";
import { type ContainerPlan, planContainer, pluginInside, sessionsDir } from "../container/plan.ts";
import type { SpareContainer } from "../container/spare.ts";
import { freeMountpoints, sweepContainers } from "../container/sweep-containers.ts";
import { ContainerManager } from "./container-manager.ts";
import type { DockerConfig } from "./docker-config.ts";
import type { ExecuteOptions, RuntimeInterface } from "./interface.ts";
import { hostServers } from "./mcp/host-servers.ts";
import { sessionFilePath } from "./session-file/path.ts";

/** Runs any runtime's `claude` in a container of its own. The runtime does not know. */
export class ContainerRunner implements RuntimeInterface {
  constructor(
    private readonly runtime: RuntimeInterface,
    private readonly config: DockerConfig,
    private readonly stateDir: string,
    /** Names the engine, as for the `docker` command. */
    private readonly environment: Environment = process.env,
  ) {}

  async *execute(options: ExecuteOptions): AsyncGenerator<SDKMessage> {
    const manager = await ContainerManager.connect(this.environment);
    await this.endEarlier(manager, options.run?.jobId);
    mkdirSync(options.privateDir, { recursive: true, mode: 0o700 });
    const { plan, begun: container } = await this.open(manager, options);
    try {
      writeGitConfig(options.privateDir, this.config.agent, plan.workspace);
      for (const text of plan.warnings) options.observer?.warning?.(text);
      options.observer?.container?.({ id: container.id });
      yield* this.runtime.execute(this.translate(manager, options, plan, container));
    } finally {
      await this.close(manager, container.id);
    }
  }

  /** An engine that was gone may have kept what an earlier attempt of the job was doing. */
  private async endEarlier(manager: ContainerManager, jobId: string | undefined): Promise<void> {
    if (jobId === undefined) return;
    await sweepContainers(manager, this.stateDir, async (id) => id === jobId);
  }

  private async open(
    manager: ContainerManager,
    options: ExecuteOptions,
  ): Promise<OpenedContainer<WaitingContainer>> {
    const who = options.run ?? { jobId: `run-${randomUUID()}`, attempt: 1 };
    const taken = options.spare && (await this.take(manager, options, options.spare, who));
    if (taken) return taken;
    const site = { manager, config: this.config, stateDir: this.stateDir };
    return await openContainer(site, options, who, async (id) => {
      const attached = await manager.attach(id);
      await manager.start(id);
      return { id, attached, end: manager.end(id, attached) };
    });
  }

  /** A spare that is not just what this run would be given, or has gone, is no help. */
  private async take(
    manager: ContainerManager,
    options: ExecuteOptions,
    { id, print }: SpareContainer,
    who: ContainerJob,
  ): Promise<OpenedContainer<WaitingContainer> | undefined> {
    const plan = planContainer(this.config, options, this.stateDir);
    try {
      if (printOf(this.config, plan) !== print) throw new Error("it was made for something else");
      await manager.rename(id, containerName(who));
      const attached = await manager.attach(id);
      return { id, plan, begun: { id, attached, end: manager.end(id, attached) } };
    } catch {
      await manager.remove(id).catch(() => undefined);
      return undefined;
    }
  }

  private translate(
    manager: ContainerManager,
    options: ExecuteOptions,
    { mounts }: ContainerPlan,
    container: WaitingContainer,
  ): ExecuteOptions {
    const { agent, observer, privateDir, session } = options;
    const configDir = sessionsDir(this.stateDir, this.config.agent);
    return {
      ...options,
      agent: { ...agent, plugins: agent.plugins.map((_, index) => pluginInside(index)) },
      claude: inside.claude,
      cwd: inside.workspace,
      env: containerEnvironment(options, this.config, mounts),
      bridgedServers: {
        ...hostServers(agent, this.environment, options.env),
        ...options.bridgedServers,
      },
      privateDirInside: inside.privateDir,
      sessionFile: sessionFilePath({ place: "docker", configDir, cwd: "" }, session.sessionId),
      spawn: spawnInContainer(manager, container, {
        beforeStart: () => letRead(privateDir),
        onEnd: (seen) => observer?.container?.(seen),
      }),
    };
  }

  /** Where the engine is gone, whoever comes next finds the container by its labels. */
  private async close(manager: ContainerManager, id: string): Promise<void> {
    try {
      await manager.remove(id);
      await freeMountpoints(manager, this.stateDir);
    } catch {
      return;
    }
  }
}
