import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { execa } from "execa";
import type { ProcessIdentity } from "../../state/process-identity.ts";
import { runMarker } from "../environment.ts";
import { stateOf } from "../file-state.ts";
import { RunCgroup } from "../sweep/cgroup.ts";
import { launcherToken } from "../sweep/launcher-token.ts";
import {
  apart,
  type Ended,
  processOf,
  type SpawnClaude,
  type SpawnCommand,
  spawnOnHost,
} from "./spawn.ts";

/**
 * A shell that waits to be told which program it becomes, in a control group of its own. To start a
 * program, a process as large as ours is copied first; and while one is moved into a group, it and
 * all others can start neither processes nor threads. Both take longer than all else that a start
 * needs, and here they are done before there is a job. It goes when it is never told, whatever
 * becomes of us.
 */
export class Launcher {
  readonly #shell;
  readonly #input: Writable;
  readonly #group: RunCgroup | undefined;
  #isFree: boolean;

  constructor(runner: ProcessIdentity) {
    const token = launcherToken(runner);
    this.#shell = execa("/bin/sh", [], {
      cwd: "/",
      env: { [runMarker]: token },
      ...apart,
      stdio: ["pipe", "pipe", "pipe", "pipe"],
    });
    // It is gone when it has become the program, whose input is the other pipe.
    this.#shell.stdin.on("error", () => undefined);
    this.#input = inputOf(this.#shell.stdio[3]);
    const { pid } = this.#shell;
    this.#isFree = pid !== undefined;
    this.#group = pid === undefined ? undefined : RunCgroup.hold(token, pid);
    this.#shell.once("exit", () => {
      this.#isFree = false;
    });
  }

  /** The program itself where that can be told to a shell, and only once. */
  readonly spawn: SpawnClaude = (command) => {
    if (!this.#isFree || !canBeTold(command)) return spawnOnHost(command);
    this.#isFree = false;
    this.#shell.stdin.end(launchScript(command));
    return { ...processOf(this.#shell, this.#input, endOf(this.#shell)), group: this.#group };
  };

  /** There will be nothing to become. */
  async end(): Promise<void> {
    if (!this.#isFree) return;
    this.#isFree = false;
    this.#shell.stdin.end();
    await this.#shell;
    await this.#group?.remove();
  }
}

/** Execa would wait for the end of all pipes, and what a program left behind may hold its input. */
async function endOf(shell: ChildProcess): Promise<Ended> {
  const [code, signal] = await once(shell, "exit");
  const outputs = [shell.stdout, shell.stderr].map((one) => one && finished(one));
  await Promise.allSettled(outputs);
  return { exitCode: code ?? undefined, signal: signal ?? undefined };
}

function inputOf(pipe: unknown): Writable {
  if (!(pipe instanceof Writable)) throw new Error("a pipe of the launcher is missing");
  return pipe;
}

/** What a shell cannot pass on as it is, or has its own idea of, is left to a start without one. */
function canBeTold({ file, args, cwd, env }: SpawnCommand): boolean {
  const names = Object.keys(env);
  if (!names.every((name) => plain.test(name) && !own.test(name))) return false;
  const words = [cwd, ...args, ...Object.values(env)];
  // One that is not there is told apart by a start without a shell.
  return words.every((word) => !word.includes("\0")) && stateOf(file) === "runnable";
}

const plain = /^[A-Za-z_][A-Za-z0-9_]*$/;
const own =
  /^(BASH.*|DIRSTACK|ENV|E?UID|GROUPS|IFS|LINENO|OLDPWD|OPT.*|PPID|PS\d|PWD|RANDOM|SECONDS|SHELLOPTS|SHLVL|_)$/;

/** Its own variables go, so that the program is given just those it should have. */
function launchScript({ file, args, cwd, env }: SpawnCommand): string {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${quoted(value)}`);
  return [
    `cd ${quoted(cwd)}`,
    `unset PWD OLDPWD ${runMarker}`,
    ...(variables.length > 0 ? [`export ${variables.join(" ")}`] : []),
    `exec ${[file, ...args].map(quoted).join(" ")} <&3 3<&-\n`,
  ].join(" && ");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
