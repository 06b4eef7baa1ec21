import { open } from "node:fs/promises";
import { startGateway } from "../gateway/gateway.ts";
import { importSdk } from "./runtime/sdk-runtime.ts";
import { spawnOnHost } from "./runtime/spawn.ts";
import { Leash } from "./sweep/leash.ts";

/**
 * Goes once through what every run goes through, and leaves no trace whenever it is killed. Node
 * loads and compiles code when it first runs, and that takes more time than the steps themselves.
 */
export async function warmUp(options: { sdk: boolean }): Promise<void> {
  await Promise.all([useFiles(), useGateway(), useProcess(), options.sdk && useSdk()]);
}

async function useFiles(): Promise<void> {
  const file = await open("/dev/null", "a+");
  await file.stat();
  await file.close();
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
  const leash = new Leash("warm-up", { cgroup: false });
  if (child.pid !== undefined) leash.hold(child.pid);
  leash.glance();
  await child.exited;
}

/** Whoever lacks it hears of it when an agent needs it. */
async function useSdk(): Promise<void> {
  await importSdk().catch(() => undefined);
}
