import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "../config/environment.ts";
import type { Fleet } from "../config/load.ts";
import type { ResolvedAgent } from "../config/resolve.ts";
import { labels } from "../runner/container/labels.ts";
import { makeSpare } from "../runner/container/make-spare.ts";
import { type SpareContainer, sparesDir } from "../runner/container/spare.ts";
import { freeMountpoints } from "../runner/container/sweep-containers.ts";
import { loginFile } from "../runner/login.ts";
import { configDirOf } from "../runner/prepare-run.ts";
import { ContainerManager } from "../runner/runtime/container-manager.ts";
import { resolveDockerConfig } from "../runner/runtime/docker-config.ts";
import { Refill } from "./refill.ts";

/** A new spare leaves the processor to the run that took the last one until that is well under way. */
const pauseAfterTaking = 1_000;
const pauseAfterFailure = 30_000;

interface SpareContext {
  readonly state: { readonly stateDir: string };
  fleet(): Fleet;
  environment(): Environment;
  trouble(message: string, cause?: unknown): void;
}

/** A container for each agent that wants one ready (`docker.warm`), so that no job waits for it. */
export class SpareContainers {
  private readonly spares = new Map<string, SpareContainer>();
  /** Ours, also between being taken and having the name of a job. */
  private readonly known = new Set<string>();
  private readonly refill = new Refill(
    () => this.wanting().length > 0,
    () => this.fill(),
  );

  constructor(private readonly context: SpareContext) {}

  start(): void {
    this.refill.start();
  }

  has(containerId: string): boolean {
    return this.known.has(containerId);
  }

  take(agent: string): SpareContainer | undefined {
    const spare = this.spares.get(agent);
    this.spares.delete(agent);
    if (spare) this.refill.in(pauseAfterTaking);
    return spare;
  }

  async stop(): Promise<void> {
    await this.refill.stop();
    for (const spare of this.spares.values()) await this.remove(spare);
    this.spares.clear();
  }

  /** After the attempt that took it, which may have died before it had it. */
  async remove({ id, folder }: SpareContainer): Promise<void> {
    this.known.delete(id);
    const { state, environment } = this.context;
    try {
      const manager = await ContainerManager.connect(environment());
      await manager.remove(id);
      await freeMountpoints(manager, state.stateDir);
      rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      this.context.trouble("a spare container could not be removed", error);
    }
  }

  private async fill(): Promise<void> {
    const { state, environment, trouble } = this.context;
    try {
      const manager = await ContainerManager.connect(environment());
      await removeFolders(manager, state.stateDir, this.known.size === 0);
      for (const agent of this.wanting()) {
        if (this.refill.isStopped) return;
        const config = resolveDockerConfig(agent);
        const engine = await manager.engineFacts(config.image);
        const site = { manager, engine, config, stateDir: state.stateDir };
        const spare = await makeSpare(site, agent, authFileOf(agent, configDirOf(environment())));
        this.known.add(spare.id);
        this.spares.set(agent.name, spare);
      }
    } catch (error) {
      trouble("no spare container could be made", error);
      this.refill.in(pauseAfterFailure);
    }
  }

  private wanting(): ResolvedAgent[] {
    return this.context.fleet().agents.filter(({ name, docker, working_directory: { path } }) => {
      return docker.enabled && docker.warm && !this.spares.has(name) && existsSync(path);
    });
  }
}

function authFileOf({ docker }: ResolvedAgent, configDir: string): string | undefined {
  return docker.auth === "mount" ? loginFile(configDir) : undefined;
}

/** What an earlier fleet left, once: containers that are gone need their folders no more. */
async function removeFolders(
  manager: ContainerManager,
  stateDir: string,
  isFirst: boolean,
): Promise<void> {
  const folder = sparesDir(stateDir);
  if (!isFirst || !existsSync(folder)) return;
  const found = await manager.findLabelled(labels.spare);
  const used = new Set(found.map((one) => one.labels[labels.spare]));
  for (const name of readdirSync(folder)) {
    if (!used.has(name)) rmSync(join(folder, name), { recursive: true, force: true });
  }
}
