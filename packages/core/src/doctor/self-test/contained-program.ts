import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { UserError } from "../../errors/user-error.ts";
import type {
  ExecuteOptions,
  RuntimeInterface,
  SDKMessage,
} from "../../runner/runtime/interface.ts";

/**
 * A script of ours in the place of `claude`. It is started by the same road, so that what it finds
 * is what an agent would.
 */
export class ContainedProgram implements RuntimeInterface {
  constructor(
    private readonly script: string,
    private readonly args: readonly string[],
    private readonly read: (stdout: Readable) => Promise<void>,
  ) {}

  async *execute({ spawn, cwd, env, signal }: ExecuteOptions): AsyncGenerator<SDKMessage> {
    if (spawn === undefined) throw new Error("the self-test is for containers");
    const program = spawn({ file: "sh", args: ["-c", this.script, "sh", ...this.args], cwd, env });
    const stop = () => program.kill("SIGKILL");
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    program.stdin.end();
    const [complaints, , exit] = await Promise.all([
      text(program.stderr),
      this.read(program.stdout),
      program.exited,
    ]).finally(() => signal.removeEventListener("abort", stop));
    if (exit.code === 125 || exit.code === 127) {
      throw new UserError("container_refused", `It could not be started: ${complaints.trim()}`);
    }
    yield* [];
  }
}
