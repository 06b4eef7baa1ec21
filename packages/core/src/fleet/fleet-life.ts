import type { Environment } from "../config/environment.ts";
import { type LoadedFleet, loadFleet } from "../config/load.ts";
import type { ResolvedAgent } from "../config/resolve.ts";
import { UserError } from "../errors/user-error.ts";
import type { SparePool } from "../runner-process/spare.ts";
import { ContainerWatch } from "./container-watch.ts";
import type { FleetStatus, ShutdownOptions } from "./control.ts";
import { drain } from "./drain.ts";
import { EventHub } from "./event-hub.ts";
import { type FleetParts, openParts } from "./parts.ts";
import { Problems } from "./problems.ts";
import { type Recovered, recover } from "./recovery.ts";
import { Retention } from "./retention.ts";

export interface FleetManagerOptions {
  /** The fleet file. */
  file: string;
  env?: Environment;
  /** What `loadFleet` gave for that file, where it is known already. */
  loaded?: LoadedFleet;
  version?: string;
  /**
   * For a command that must not take on the whole queue: starts only what is triggered here, and
   * heeds no pause, since whoever triggers is there to decide.
   */
  onlyOwn?: boolean;
  /** Nobody can be asked: what jobs that are triggered here ask is denied at once. */
  unattended?: boolean;
  /** Runners that are started already. They are stopped with the fleet. */
  spares?: SparePool;
  /** What a person should know but no record tells. */
  onTrouble?: (message: string, cause?: unknown) => void;
}

/** A fleet from its first breath to its last: lock, state and configuration, and who may use them when. */
export class FleetLife {
  readonly hub = new EventHub((error) => this.trouble("a listener failed", error));
  readonly startedAt = new Date();
  private readonly problems = new Problems(this.hub);
  private readonly hurry = new AbortController();
  private loaded: LoadedFleet | undefined;
  private parts: FleetParts | undefined;
  private phase: "starting" | "running" | "draining" = "starting";
  private opening: Promise<void> | undefined;
  private starting: Promise<Recovered> | undefined;
  private stopping: Promise<void> | undefined;

  constructor(private readonly options: FleetManagerOptions) {}

  async initialize(): Promise<void> {
    if (this.stopping) throw stopped();
    this.opening ??= this.open().catch((error) => {
      this.opening = undefined;
      throw error;
    });
    return this.opening;
  }

  async start(): Promise<Recovered> {
    if (this.stopping) throw stopped();
    this.starting ??= this.begin().catch((error) => {
      this.starting = undefined;
      throw error;
    });
    return this.starting;
  }

  /** Whoever asks again and leaves no time cuts short how long the first one wanted to wait. */
  shutdown(options: ShutdownOptions = {}): Promise<void> {
    if (this.stopping && options.drainMs === 0) this.hurry.abort();
    this.stopping ??= this.close(options);
    return this.stopping;
  }

  /** What fails because the fleet stopped meanwhile failed for that reason and no other. */
  async ask<T>(work: (parts: FleetParts) => Promise<T>): Promise<T> {
    const parts = this.opened;
    try {
      return await work(parts);
    } catch (error) {
      throw this.parts === parts ? error : stopped(error);
    }
  }

  get opened(): FleetParts {
    if (this.parts) return this.parts;
    throw this.stopping ? stopped() : unstarted();
  }

  get config(): LoadedFleet {
    if (this.loaded) return this.loaded;
    throw unstarted();
  }

  get condition(): Pick<FleetStatus["fleet"], "state" | "problem"> {
    const state = this.problems.has("state") ? "refusing" : this.phase;
    return { state, problem: this.problems.worst };
  }

  get takesWork(): boolean {
    return this.phase !== "draining";
  }

  agent(name: string): ResolvedAgent {
    const found = this.config.fleet.agents.find((agent) => agent.name === name);
    if (found) return found;
    throw new UserError("usage", `there is no agent \`${name}\``);
  }

  /** The configuration is checked first and swapped at once; a wrong one leaves the old in force. */
  readConfig(): void {
    try {
      this.loaded = loadFleet(this.options.file, this.options.env);
      this.problems.set("configuration", undefined);
    } catch (error) {
      this.problems.set("configuration", error instanceof Error ? error.message : String(error));
      throw error;
    }
  }

  private async open(): Promise<void> {
    this.loaded = this.options.loaded ?? loadFleet(this.options.file, this.options.env);
    this.parts = await openParts({
      hub: this.hub,
      problems: this.problems,
      loaded: () => this.config,
      spares: this.options.spares,
      onlyOwn: this.options.onlyOwn ?? false,
      unattended: this.options.unattended ?? false,
      trouble: (message, cause) => this.trouble(message, cause),
    });
  }

  private async begin(): Promise<Recovered> {
    await this.initialize();
    const parts = this.opened;
    const recovered = await recover(parts.context, parts.dispatcher);
    if (this.stopping) return recovered;
    this.phase = "running";
    parts.dispatcher.start();
    if (!this.options.onlyOwn) parts.retention = new Retention(parts.context);
    parts.containers = new ContainerWatch(parts.context);
    return recovered;
  }

  private async close(options: ShutdownOptions): Promise<void> {
    this.phase = "draining";
    await this.opening?.catch(() => undefined);
    if (this.parts) {
      const { dispatcher, context, state, lock, spares, retention, containers } = this.parts;
      this.hub.emit({ type: "fleet:stopping" });
      dispatcher.halt();
      if (!options.detach) await drain(dispatcher, options, this.hurry.signal);
      await dispatcher.leave();
      await retention?.stop();
      await containers?.stop();
      await context.spareContainers.stop();
      await spares.stop();
      this.parts = undefined;
      await state.close();
      lock.release();
    }
    this.hub.close();
  }

  private trouble(message: string, cause?: unknown): void {
    this.options.onTrouble?.(message, cause);
  }
}

function unstarted(): UserError {
  return new UserError("fleet_unreachable", "the fleet has not been started");
}

function stopped(cause?: unknown): UserError {
  return new UserError("fleet_unreachable", "the fleet has stopped", { cause });
}
