// A fleet in a temp folder that uses the rehearsal model and nothing of the user's own settings.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { connectFleet } from "@herdctl/protocol/client";
import { startRehearsal } from "@herdctl/rehearsal";

export const herdctl = resolve(import.meta.dirname, "../packages/cli/dist/herdctl.mjs");

const greeting = { rules: [{ reply: "Hello." }] };
const oneAgent = `version: 1
fleet: { name: bench }
agents:
  - { name: hello, runtime: cli, permission_mode: bypassPermissions, default_prompt: hello }
`;

/** A fleet file with its environment, not started. */
export async function createRehearsedFleet({ script = greeting, fleetFile = oneAgent } = {}) {
  const rehearsal = await startRehearsal({ script });
  const root = mkdtempSync(join(tmpdir(), "herdctl-bench-"));
  const [home, folder] = [join(root, "home"), join(root, "fleet")];
  mkdirSync(home);
  mkdirSync(folder);
  writeFileSync(join(folder, "herdctl.yaml"), fleetFile);
  const env = {
    PATH: pathWithoutPackages(),
    HOME: home,
    TMPDIR: root,
    IS_SANDBOX: "1",
    ...rehearsal.env(),
  };
  const dispose = async () => {
    await rehearsal.stop();
    rmSync(root, { recursive: true, force: true });
  };
  return { env, folder, dispose };
}

/** A fleet process and a client of it, for as long as `measure` takes; `prepare` runs before the start. */
export async function withFleet({ prepare, ...options }, measure) {
  const stage = await createRehearsedFleet(options);
  try {
    await prepare?.(stage);
    const fleet = await startFleet(stage);
    try {
      return await measure({ ...stage, ...fleet });
    } finally {
      await fleet.stop();
    }
  } finally {
    await stage.dispose();
  }
}

export async function startFleet({ folder, env }) {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [herdctl, "start"], {
    cwd: folder,
    env,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const exited = new Promise((resolve) => child.once("close", resolve));
  const stop = async () => {
    child.kill("SIGTERM");
    await exited;
  };
  try {
    const control = await connect(join(folder, ".herdctl/herdctl.sock"), child);
    return { control, pid: child.pid, startMs: performance.now() - startedAt, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function connect(socket, child) {
  const deadline = Date.now() + 60_000;
  while (Date.now() < deadline && child.exitCode === null) {
    const control = await connectFleet({ socketPath: socket }).catch(() => undefined);
    if (control) return control;
    await pause(5);
  }
  throw new Error("the fleet did not start");
}

/** npm puts the programs of this project first, with the `claude` that the tests use. */
function pathWithoutPackages() {
  const folders = (process.env.PATH ?? "").split(delimiter);
  return folders.filter((one) => !one.endsWith("node_modules/.bin")).join(delimiter);
}

export function bundledClaude() {
  const fromSdk = createRequire(
    createRequire(import.meta.url).resolve("@anthropic-ai/claude-agent-sdk"),
  );
  const platform = `${process.platform}-${process.arch}`;
  return join(
    dirname(fromSdk.resolve(`@anthropic-ai/claude-agent-sdk-${platform}/package.json`)),
    "claude",
  );
}
