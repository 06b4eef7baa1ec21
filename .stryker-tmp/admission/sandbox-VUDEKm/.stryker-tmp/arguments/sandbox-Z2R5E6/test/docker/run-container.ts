import { Duplex, PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import type { connectEngine } from "../../packages/core/src/docker/engine.ts";

type Engine = Awaited<ReturnType<typeof connectEngine>>;

export interface ContainerRun {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a container with this spec to its end; standard input is attached before the start. */
export async function runContainer(
  engine: Engine,
  spec: Parameters<Engine["createContainer"]>[0],
  input = "",
): Promise<ContainerRun> {
  const container = await engine.createContainer({
    ...spec,
    ...{ OpenStdin: true, StdinOnce: true, AttachStdin: true },
    ...{ AttachStdout: true, AttachStderr: true },
  });
  onTestFinished(() => container.remove({ force: true }));
  const attached = await container.attach({
    ...{ stream: true, stdin: true, stdout: true, stderr: true },
    hijack: true,
  });
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  container.modem.demuxStream(attached, stdout, stderr);
  if (attached instanceof Duplex) attached.once("end", () => [stdout.end(), stderr.end()]);
  await container.start();
  attached.end(input);
  const [stdoutText, stderrText, exitStatus] = await Promise.all([
    text(stdout),
    text(stderr),
    container.wait(),
  ]);
  return { code: exitStatus.StatusCode, stdout: stdoutText, stderr: stderrText };
}
