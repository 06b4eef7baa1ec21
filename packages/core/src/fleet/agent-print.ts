import { createHash } from "node:crypto";
import type { Environment } from "../config/environment.ts";
import type { Fleet } from "../config/load.ts";
import { shapingParts } from "../runner/live/print.ts";

/** What the `claude` of an agent is made of by the configuration in force; undefined without the agent. */
export function agentPrint(
  { fleet, environment }: { fleet(): Fleet; environment(): Environment },
  name: string,
): string | undefined {
  const agent = fleet().agents.find((one) => one.name === name);
  if (!agent) return undefined;
  const facts = JSON.stringify([shapingParts(agent), fleet().claude_path, environment()]);
  return createHash("sha256").update(facts).digest("hex");
}
