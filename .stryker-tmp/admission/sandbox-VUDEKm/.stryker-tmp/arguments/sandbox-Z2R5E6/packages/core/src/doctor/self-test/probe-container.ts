import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { UserError } from "@herdctl/protocol";
import { extract } from "tar-stream";
import type {
  ExecuteOptions,
  RuntimeInterface,
  SDKMessage,
} from "../../runner/runtimes/runtime-interface.ts";
import { findSecrets, type Secret, type SecretMatch } from "./find-secrets.ts";
import type { ProbeListeners } from "./probe-listeners.ts";
import { type ProbeReport, parseProbeReport } from "./probe-report.ts";

/** Runs a program in the agent's container until it exits. */
export type RunInContainer = (program: RuntimeInterface) => Promise<void>;

/** Collects facts about the container, and tries network connections from it. */
export async function probeContainer(
  run: RunInContainer,
  { token, isSealed, listeners }: { token: string; isSealed: boolean; listeners: ProbeListeners },
): Promise<ProbeReport> {
  const { port, addresses } = listeners;
  const args = [token, isSealed ? "closed" : "open", String(port), ...addresses];
  let output = "";
  await run(
    new ScriptRuntime(readScript("probe.sh"), args, async (stdout) => {
      output = await text(stdout);
    }),
  );
  return parseProbeReport(output);
}

/** Searches all files that the container's user can read. The search runs outside, so no secret enters it. */
export async function searchFiles(
  run: RunInContainer,
  secrets: readonly Secret[],
): Promise<{ secretMatches: SecretMatch[]; fileCount: number }> {
  const secretMatches: SecretMatch[] = [];
  let fileCount = 0;
  const read = async (stdout: Readable) => {
    const archive = extract();
    stdout.pipe(archive);
    for await (const entry of archive) {
      fileCount += 1;
      secretMatches.push(...findSecrets(`/${entry.header.name}`, await buffer(entry), secrets));
    }
  };
  await run(new ScriptRuntime(readScript("pack-files.sh"), [], read));
  return { secretMatches, fileCount };
}

function readScript(name: string): string {
  const manifest = createRequire(import.meta.url).resolve("@herdctl/core/package.json");
  return readFileSync(join(dirname(manifest), "self-test", name), "utf8");
}

/** Runs a script in place of `claude`, started in the same way, so that it sees what an agent sees. */
class ScriptRuntime implements RuntimeInterface {
  constructor(
    private readonly readScript: string,
    private readonly args: readonly string[],
    private readonly read: (stdout: Readable) => Promise<void>,
  ) {}

  async *execute({ spawn, cwd, env, signal }: ExecuteOptions): AsyncGenerator<SDKMessage> {
    if (spawn === undefined) throw new Error("the self-test needs a container");
    const program = spawn({
      file: "sh",
      args: ["-c", this.readScript, "sh", ...this.args],
      cwd,
      env,
    });
    const stop = () => program.kill("SIGKILL");
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    program.stdin.end();
    const [errorOutput, , exit] = await Promise.all([
      text(program.stderr),
      this.read(program.stdout),
      program.exited,
    ]).finally(() => signal.removeEventListener("abort", stop));
    if (exit.code === 125 || exit.code === 127) {
      throw new UserError(
        "container_refused",
        `The self-test could not be started: ${errorOutput.trim()}`,
      );
    }
    yield* [];
  }
}
