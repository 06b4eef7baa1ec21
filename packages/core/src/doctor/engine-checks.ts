import type Docker from "dockerode";
import { z } from "zod";
import type { Environment } from "../config/environment.ts";
import { UserError } from "../errors/user-error.ts";
import { connectEngine } from "../runner/container/engine.ts";
import { engineAddress } from "../runner/container/engine-address.ts";
import { type Finding, failed, ok, warning } from "./check.ts";

export type ReachedEngine =
  | { kind: "reached"; engine: Docker; checks: Finding[] }
  | { kind: "unreachable"; error: UserError };

/** Which engine answers, and whether it can hold a container within its limits. */
export async function reachEngine(env: Environment): Promise<ReachedEngine> {
  try {
    const engine = await connectEngine(env);
    const { socketPath, source } = engineAddress(env);
    const { Version: version } = await engine.version();
    const reached = ok("engine", `Docker ${version} answers at ${socketPath} (${source}).`);
    const checks = [reached, ...limitChecks(infoSchema.parse(await engine.info()))];
    return { kind: "reached", engine, checks };
  } catch (error) {
    if (error instanceof UserError) return { kind: "unreachable", error };
    throw error;
  }
}

const infoSchema = z.object({
  MemoryLimit: z.boolean().optional(),
  SwapLimit: z.boolean().optional(),
  PidsLimit: z.boolean().optional(),
  CpuCfsQuota: z.boolean().optional(),
  SecurityOptions: z.array(z.string()).nullish(),
});

type EngineInfo = z.infer<typeof infoSchema>;

const cgroupHint = "Enable the memory and pids controllers of the kernel's control groups.";

function limitChecks(info: EngineInfo): Finding[] {
  const missing = [
    info.MemoryLimit === true ? [] : ["memory"],
    info.PidsLimit === true ? [] : ["the number of processes"],
  ].flat();
  const limits =
    missing.length > 0
      ? failed("engine limits", `The engine cannot limit ${missing.join(" and ")}.`, cgroupHint)
      : info.SwapLimit === true
        ? ok("engine limits", "Memory, swap and the number of processes can be limited.")
        : warning(
            "engine limits",
            "Memory can be limited, swap cannot: a container may use more than its `memory`.",
            "Start the kernel with `swapaccount=1`, or turn swap off.",
          );
  const isFiltered = info.SecurityOptions?.some((option) => option.includes("seccomp"));
  if (isFiltered) return [limits];
  const hint = "Use an engine and a kernel with seccomp.";
  return [limits, failed("engine seccomp", "The engine does not filter system calls.", hint)];
}
