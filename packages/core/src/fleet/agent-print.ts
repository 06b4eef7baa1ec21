import { createHash } from "node:crypto";
import { shapingParts } from "../runner/live/print.ts";
import type { FleetContext } from "./context.ts";

/** What the `claude` of an agent is made of by the configuration in force; undefined without the agent. */
export function agentPrint(
  { fleet, environment }: Pick<FleetContext, "fleet" | "environment">,
  name: string,
): string | undefined {
  const agent = fleet().agents.find((one) => one.name === name);
  if (!agent) return undefined;
  const facts = JSON.stringify([shapingParts(agent), fleet().claude_path, environment()]);
  return createHash("sha256").update(facts).digest("hex");
}
