import type { ProviderConfig } from "@herdctl/config";
import { agentOf, inlineAgent, loadTestFleet } from "../support/fleet-config.ts";

/** The `provider` of an agent with this YAML. */
export function loadAgentProvider(yaml: string): ProviderConfig | undefined {
  return agentOf(loadTestFleet(inlineAgent(`provider: ${yaml}\n`)), "one").provider;
}
