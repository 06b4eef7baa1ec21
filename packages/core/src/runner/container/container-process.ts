import type { Attached, ContainerManager } from "../runtime/container-manager.ts";
import type { ClaudeProcess, ProcessExit, SpawnClaude } from "../runtime/spawn.ts";
import type { ContainerEnd, ContainerSeen } from "./container-end.ts";
import { launchLine } from "./launch-line.ts";

/** A started container whose launcher waits for its line. */
export interface WaitingContainer {
  id: string;
  attached: Attached;
  end: Promise<ContainerEnd>;
}

export interface ContainerHooks {
  /** Just before the program starts. */
  beforeStart(): void;
  onEnd(seen: ContainerSeen): void;
}

/** Starts the program in a container that is there already, which takes no longer than a write. */
export function spawnInContainer(
  manager: ContainerManager,
  { id, attached, end }: WaitingContainer,
  hooks: ContainerHooks,
): SpawnClaude {
  return ({ file, args, cwd, env }): ClaudeProcess => {
    hooks.beforeStart();
    attached.stdin.write(launchLine({ cwd, env, program: file, args }));
    return {
      // It has a number only inside, where ours mean nothing.
      pid: undefined,
      stdin: attached.stdin,
      stdout: attached.stdout,
      stderr: attached.stderr,
      exited: exitOf(id, attached, end, hooks),
      kill: (signal) => void manager.kill(id, signal).catch(() => undefined),
    };
  };
}

/** What was said before the end has been read by then. */
async function exitOf(
  id: string,
  attached: Attached,
  end: Promise<ContainerEnd>,
  hooks: ContainerHooks,
): Promise<ProcessExit> {
  const ended = await end;
  await Promise.race([attached.ended, timeout(lastWords)]);
  attached.stdin.destroy();
  hooks.onEnd({ id, end: ended });
  return { code: ended.kind === "exited" ? ended.code : null, signal: null };
}

const lastWords = 2_000;

function timeout(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds).unref();
  });
}
