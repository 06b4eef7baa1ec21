import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startGateway } from "../gateway/gateway.ts";
import { writeOutcome } from "../state/outcome-file.ts";
import { openOutput } from "../state/output-writer.ts";
import { spawnOnHost } from "./runtime/spawn.ts";
import { Leash } from "./sweep/leash.ts";

/**
 * Goes once through what every run goes through. Node loads and compiles code when it first runs,
 * and that is worth more time than the steps themselves.
 */
export async function warmUp(options: { sdk: boolean }): Promise<void> {
  await Promise.all([useFiles(), useGateway(), useProcess(), options.sdk && importSdk()]);
}

async function useFiles(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "herdctl-warm-"));
  try {
    const output = await openOutput(folder);
    await output.append({});
    await output.sync();
    await output.close();
    await writeOutcome(folder, {});
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function useGateway(): Promise<void> {
  const gateway = await startGateway({
    upstream: "http://127.0.0.1:9",
    credential: { kind: "api_key", value: "" },
  });
  await gateway.stop();
}

async function useProcess(): Promise<void> {
  const { PATH = "" } = process.env;
  const child = spawnOnHost({ file: "true", args: [], cwd: "/", env: { PATH } });
  const leash = new Leash(`warm-up-${process.pid}`);
  if (child.pid !== undefined) leash.hold(child.pid);
  await child.exited;
  await leash.kill();
}

/** Whoever lacks it hears of it when an agent needs it. */
async function importSdk(): Promise<void> {
  await import("@anthropic-ai/claude-agent-sdk").catch(() => undefined);
}
