import { PassThrough, type Readable, type Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import type Docker from "dockerode";
import type { Environment } from "../../config/environment.ts";
import { UserError } from "../../errors/user-error.ts";
import type { ContainerEnd } from "../container/container-end.ts";
import { connectEngine, imageInfo, statusOf } from "../container/engine.ts";
import { type EngineFacts, imageMissing, readEngineFacts } from "../container/engine-facts.ts";
import type { ContainedProcess } from "../container/residents.ts";

export interface Attached {
  stdin: Writable;
  stdout: Readable;
  stderr: Readable;
  /** Resolves when nothing more comes: the container has ended, or the engine has. */
  ended: Promise<void>;
}

export interface FoundContainer {
  id: string;
  name: string;
  labels: Readonly<Record<string, string>>;
}

export interface ContainedCommand {
  command: string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
}

/** What we ask of an engine. Whatever a person can mend comes as a `UserError`. */
export class ContainerManager {
  constructor(private readonly engine: Docker) {}

  static async connect(env: Environment): Promise<ContainerManager> {
    return new ContainerManager(await connectEngine(env));
  }

  async engineFacts(imageName: string): Promise<EngineFacts> {
    return await readEngineFacts(this.engine, imageName).catch(rethrow);
  }

  async create(spec: Docker.ContainerCreateOptions): Promise<string> {
    try {
      return (await this.engine.createContainer(spec)).id;
    } catch (error) {
      throw statusOf(error) === 404 ? imageMissing(spec.Image ?? "") : refused(error);
    }
  }

  /** Before the start, so that nothing of it is missed. */
  async attach(id: string): Promise<Attached> {
    const options = { stream: true, stdin: true, stdout: true, stderr: true, hijack: true };
    const stream = await this.engine.getContainer(id).attach(options).catch(rethrow);
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
    stdin.pipe(stream);
    this.engine.modem.demuxStream(stream, stdout, stderr);
    // A container that is gone does not read; how it ended is told by its state.
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
    await this.engine.getContainer(id).rename({ name }).catch(rethrow);
  }

  async start(id: string): Promise<void> {
    await this.engine.getContainer(id).start().catch(rethrow);
  }

  /**
   * Never rejects: an engine that goes away is an end too. The question for the end may stay
   * unanswered then, without an error, so the end of the streams counts as well.
   */
  async end(id: string, { ended }: Pick<Attached, "ended">): Promise<ContainerEnd> {
    const answered = this.engine
      .getContainer(id)
      .wait()
      .then(() => true)
      .catch((error) => statusOf(error) !== undefined);
    await Promise.race([answered, ended]);
    return (await this.stateOf(id)) ?? (await this.endOfLost(id, answered));
  }

  async kill(id: string, signal: NodeJS.Signals): Promise<void> {
    await this.engine.getContainer(id).kill({ signal }).catch(unlessGone);
  }

  async remove(id: string): Promise<void> {
    await this.engine.getContainer(id).remove({ force: true, v: true }).catch(unlessGone);
  }

  /** Those that carry all these labels, in whatever state they are. */
  async find(labels: Readonly<Record<string, string>>): Promise<FoundContainer[]> {
    return await this.list(Object.entries(labels).map(([name, value]) => `${name}=${value}`));
  }

  /** Those that carry the label with any value. */
  async findLabelled(name: string): Promise<FoundContainer[]> {
    return await this.list([name]);
  }

  /** All that run in it, as the engine's machine counts them. */
  async processes(id: string): Promise<ContainedProcess[]> {
    const { Titles: titles, Processes: rows } = await this.engine.getContainer(id).top();
    const [pid, parent, command] = ["PID", "PPID", "CMD"].map((title) => titles.indexOf(title));
    return (rows ?? []).map((row: string[]) => ({
      pid: Number(row[pid ?? -1]),
      parent: Number(row[parent ?? -1]),
      command: row[command ?? -1] ?? "",
    }));
  }

  /** While it runs its state does not say so yet. */
  async wasShortOfMemory(id: string): Promise<boolean> {
    const until = Date.now() / 1_000;
    const filters = { container: [id], event: ["oom"] };
    return (await text(await this.engine.getEvents({ since: 1, until, filters }))) !== "";
  }

  /** A name may stand for another image by now. */
  async isOfImage(id: string, name: string): Promise<boolean> {
    const { Image: used } = await this.engine.getContainer(id).inspect();
    const image = await imageInfo(this.engine, name);
    return image.kind === "present" && image.id === used;
  }

  /** What a program says that is run in it beside the first one, with how it ended. */
  async ask(id: string, { command, cwd, env }: ContainedCommand): Promise<string> {
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
    const said = await text(stdout);
    const { ExitCode: code } = await exec.inspect();
    return `${said}${code}`;
  }

  private async list(label: string[]): Promise<FoundContainer[]> {
    const found = await this.engine.listContainers({ all: true, filters: { label } });
    return found.map(({ Id: id, Names: [name = ""], Labels: all }) => ({
      id,
      name: name.replace(/^\//, ""),
      labels: all,
    }));
  }

  /** Undefined while it runs, and when the engine does not answer. */
  private async stateOf(id: string): Promise<ContainerEnd | undefined> {
    try {
      const { State: state } = await this.engine.getContainer(id).inspect();
      if (state.Running) return undefined;
      return { kind: "exited", code: state.ExitCode, oomKilled: state.OOMKilled };
    } catch (error) {
      return statusOf(error) === 404 ? { kind: "removed" } : undefined;
    }
  }

  /** It may just be ending. Else its streams are lost for good, whether or not the engine returns. */
  private async endOfLost(id: string, answered: Promise<boolean>): Promise<ContainerEnd> {
    const deadline = Date.now() + patience;
    const isEnding = await Promise.race([answered, delay(endingTakes).then(() => false)]);
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

const endingTakes = 2_000;
const patience = 5_000;

function rethrow(error: unknown): never {
  throw refused(error);
}

/** The engine's own words say best what it did not like. */
function refused(error: unknown): unknown {
  if (error instanceof UserError) return error;
  const said = error instanceof Error ? error.message : String(error);
  if (statusOf(error) === undefined) {
    return new UserError("docker_unavailable", `The Docker engine went away: ${said}`, {
      cause: error,
    });
  }
  return new UserError("container_refused", `The Docker engine made no container: ${said}`, {
    cause: error,
  });
}

/** It has gone already, is just going, or does not run any more. */
function unlessGone(error: unknown): void {
  if (![404, 409].includes(statusOf(error) ?? 0)) throw error;
}
