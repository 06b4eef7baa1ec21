import { raceTimeout } from "@herdctl/protocol";
import type {
  AttachedStreams,
  ContainerEnd,
  ContainerManager,
  ContainerObservation,
} from "../../docker/container-manager.ts";
import type { ClaudeProcess, ProcessExit, SpawnClaude } from "../runtimes/spawn-claude.ts";

/** A started container whose launcher waits for the launch line. */
export interface WaitingContainer {
  id: string;
  attached: AttachedStreams;
  end: Promise<ContainerEnd>;
}

export interface ContainerHooks {
  /** Called just before the program starts. */
  beforeStart(): void;
  onEnd(seen: ContainerObservation): void;
}

/** Starts the program in a container that is already running, by writing the launch line to it. */
export function spawnInContainer(
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
