import { PassThrough, type Readable, type Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import type { Environment } from "@herdctl/config";
import { raceTimeout, UserError } from "@herdctl/protocol";
import type Docker from "dockerode";
import {
  connectEngine,
  type EngineFacts,
  httpStatusOf,
  type ImageReference,
  imageMissingError,
  readEngineFacts,
  readImageInfo,
} from "./engine.ts";

export interface AttachedStreams {
  stdin: Writable;
  stdout: Readable;
  stderr: Readable;
  /** Resolves when the streams end, because the container or the engine has stopped. */
  ended: Promise<void>;
}

interface FoundContainer {
  id: string;
  name: string;
  labels: Readonly<Record<string, string>>;
}

interface ContainerCommand {
  command: string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
}

/** Operations on the Docker engine. Errors that a person can fix are thrown as `UserError`. */
export class ContainerManager {
  constructor(private readonly engine: Docker) {}

  static async connect(env: Environment): Promise<ContainerManager> {
    return new ContainerManager(await connectEngine(env));
  }

  async engineFacts(imageName: string): Promise<EngineFacts> {
    return await readEngineFacts(this.engine, imageName).catch(rethrowAsUserError);
  }

  async create(spec: Docker.ContainerCreateOptions): Promise<string> {
    try {
      return (await this.engine.createContainer(spec)).id;
    } catch (error) {
      throw httpStatusOf(error) === 404 ? imageMissingError(spec.Image ?? "") : toUserError(error);
    }
  }

  /** Undefined if there is no such volume. `hostPath`: the folder of the host that it stands for. */
  async findVolume(name: string): Promise<{ hostPath?: string } | undefined> {
    try {
      const { Options: options } = await this.engine.getVolume(name).inspect();
      return { hostPath: options?.device };
    } catch (error) {
      if (httpStatusOf(error) === 404) return undefined;
      throw toUserError(error);
    }
  }

  async createVolume(name: string): Promise<void> {
    await this.engine.createVolume({ Name: name }).catch(rethrowAsUserError);
  }

  async removeVolume(name: string): Promise<void> {
    await this.engine.getVolume(name).remove().catch(ignoreIfGone);
  }

  /** Runs a container until it exits, and removes it. Throws if its command fails. */
  async runToEnd(spec: Docker.ContainerCreateOptions): Promise<void> {
    const id = await this.create(spec);
    try {
      await this.start(id);
      const { StatusCode: code } = await this.engine.getContainer(id).wait();
      if (code === 0) return;
      throw new UserError("container_refused", `A container of herdctl exited with ${code}.`);
    } finally {
      await this.remove(id);
    }
  }

  /** Call before the start, so that no output is missed. */
  async attach(id: string): Promise<AttachedStreams> {
    const options = { stream: true, stdin: true, stdout: true, stderr: true, hijack: true };
    const stream = await this.engine.getContainer(id).attach(options).catch(rethrowAsUserError);
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
    stdin.pipe(stream);
    this.engine.modem.demuxStream(stream, stdout, stderr);
    // A stopped container does not read; its state has the reason.
    stream.on("error", () => undefined);
    const ended = new Promise<void>((resolve) => {
      for (const event of ["end", "close", "error"]) stream.once(event, () => resolve());
    }).then(() => {
      stdout.end();
      stderr.end();
    });
    return { stdin, stdout, stderr, ended };
  }

  async rename(id: string, name: string): Promise<void> {
    await this.engine.getContainer(id).rename({ name }).catch(rethrowAsUserError);
  }

  async start(id: string): Promise<void> {
    await this.engine.getContainer(id).start().catch(rethrowAsUserError);
  }

  /**
   * Never rejects: a stopped engine also counts as an end. The engine's `wait` may then never settle,
   * so the end of the streams counts as well.
   */
  async waitForEnd(id: string, { ended }: Pick<AttachedStreams, "ended">): Promise<ContainerEnd> {
    const answered = this.engine
      .getContainer(id)
      .wait()
      .then(() => true)
      .catch((error) => httpStatusOf(error) !== undefined);
    await Promise.race([answered, ended]);
    return (await this.stateOf(id)) ?? (await this.resolveLostEnd(id, answered));
  }

  async kill(id: string, signal: NodeJS.Signals): Promise<void> {
    await this.engine.getContainer(id).kill({ signal }).catch(ignoreIfGone);
  }

  async remove(id: string): Promise<void> {
    await this.engine.getContainer(id).remove({ force: true, v: true }).catch(ignoreIfGone);
  }

  /** Containers with all these labels, in any state. */
  async find(labels: Readonly<Record<string, string>>): Promise<FoundContainer[]> {
    return await this.list(Object.entries(labels).map(([name, value]) => `${name}=${value}`));
  }

  async findWithLabel(name: string): Promise<FoundContainer[]> {
    return await this.list([name]);
  }

  /** The processes of a container, with pids of the engine's machine. */
  async listProcesses(id: string): Promise<ContainerProcessEntry[]> {
    const { Titles: titles, Processes: rows } = await this.engine.getContainer(id).top();
    const [pid, parent, command] = ["PID", "PPID", "CMD"].map((title) => titles.indexOf(title));
    return (rows ?? []).map((row: string[]) => ({
      pid: Number(row[pid ?? -1]),
      parent: Number(row[parent ?? -1]),
      command: row[command ?? -1] ?? "",
    }));
  }

  /** Whether a process ran out of memory. Read from events, because the state only has it after the end. */
  async hadOutOfMemoryEvent(id: string): Promise<boolean> {
    const until = Date.now() / 1_000;
    const filters = { container: [id], event: ["oom"] };
    return (await text(await this.engine.getEvents({ since: 1, until, filters }))) !== "";
  }

  /** Whether the container uses the image that the name now refers to. */
  async usesImage(id: string, name: string): Promise<boolean> {
    const { Image: used } = await this.engine.getContainer(id).inspect();
    const image = await readImageInfo(this.engine, name);
    return image.kind === "present" && image.id === used;
  }

  /** Runs a command in the container and returns its stdout followed by its exit code. */
  async runCommand(id: string, { command, cwd, env }: ContainerCommand): Promise<string> {
    const exec = await this.engine.getContainer(id).exec({
      Cmd: command,
      WorkingDir: cwd,
      Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
      AttachStdout: true,
    });
    const stream = await exec.start({});
    const stdout = new PassThrough();
    this.engine.modem.demuxStream(stream, stdout, new PassThrough());
    for (const event of ["end", "close", "error"]) stream.once(event, () => stdout.end());
    const output = await text(stdout);
    const { ExitCode: code } = await exec.inspect();
    return `${output}${code}`;
  }

  private async list(label: string[]): Promise<FoundContainer[]> {
    const found = await this.engine.listContainers({ all: true, filters: { label } });
    return found.map(({ Id: id, Names: [name = ""], Labels: all }) => ({
      id,
      name: name.replace(/^\//, ""),
      labels: all,
    }));
  }

  /** Undefined while the container runs, or if the engine does not answer. */
  private async stateOf(id: string): Promise<ContainerEnd | undefined> {
    try {
      const { State: state } = await this.engine.getContainer(id).inspect();
      if (state.Running) return undefined;
      return { kind: "exited", code: state.ExitCode, oomKilled: state.OOMKilled };
    } catch (error) {
      return httpStatusOf(error) === 404 ? { kind: "removed" } : undefined;
    }
  }

  /** The container may just be ending. Otherwise its streams are lost, even if the engine comes back. */
  private async resolveLostEnd(id: string, answered: Promise<boolean>): Promise<ContainerEnd> {
    const deadline = Date.now() + engineTimeoutMs;
    const isEnding = await raceTimeout(answered, endingGraceMs, () => false);
    const end = isEnding ? await this.stateOf(id) : undefined;
    if (end) return end;
    while (Date.now() < deadline) {
      const removed = await this.remove(id).then(
        () => true,
        () => false,
      );
      if (removed) return { kind: "engine_restarted" };
      await delay(250);
    }
    return { kind: "engine_gone" };
  }
}

const endingGraceMs = 2_000;
const engineTimeoutMs = 5_000;

function rethrowAsUserError(error: unknown): never {
  throw toUserError(error);
}

/** Includes the engine's message, which describes the problem best. */
function toUserError(error: unknown): unknown {
  if (error instanceof UserError) return error;
  const message = error instanceof Error ? error.message : String(error);
  if (httpStatusOf(error) === undefined) {
    return new UserError("docker_unavailable", `The Docker engine stopped responding: ${message}`, {
      cause: error,
    });
  }
  return new UserError(
    "container_refused",
    `The Docker engine could not create the container: ${message}`,
    {
      cause: error,
    },
  );
}

/** The container is already removed, is being removed, or no longer runs. */
function ignoreIfGone(error: unknown): void {
  if (![404, 409].includes(httpStatusOf(error) ?? 0)) throw error;
}

/** A process in a container, with pids of the engine's machine. */
export interface ContainerProcessEntry {
  pid: number;
  parent: number;
  command: string;
}

/** How a container ended, as far as the engine reports it. */
export type ContainerEnd =
  | { kind: "exited"; code: number; oomKilled: boolean }
  /** Removed by another program or person. */
  | { kind: "removed" }
  /** The engine stopped while the container was running, and came back or did not. */
  | { kind: "engine_restarted" }
  | { kind: "engine_gone" };

export interface ContainerObservation {
  id: string;
  image?: ImageReference;
  /** Undefined while it runs. */
  end?: ContainerEnd;
}
