import { RunCgroup } from "./cgroup.ts";
import { endAll, type Swept } from "./end-all.ts";

/** For a run whose own process died: what it left is known by control group and marker alone. */
export async function sweepRun(runToken: string): Promise<Swept> {
  const platform = process.platform;
  const cgroup = platform === "linux" ? RunCgroup.find(runToken) : undefined;
  return await endAll({ runToken, platform, known: new Map(), cgroup });
}
