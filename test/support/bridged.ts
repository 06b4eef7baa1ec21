import { fileURLToPath } from "node:url";
import { hostServers } from "../../packages/core/src/runner/runtime/mcp/host-servers.ts";
import { agentOf, inlineAgent, load } from "./fleet.ts";
import {
  type Performance,
  type PerformanceOptions,
  perform,
  type RuntimeUnderTest,
} from "./runtime.ts";
import type { Stage } from "./stage.ts";

export const richServer = fileURLToPath(
  new URL("../runtime/programs/mcp-rich.mjs", import.meta.url),
);

export interface BridgedPerformance extends Performance {
  notes: string;
  /** The processes of its servers. */
  servers: number[];
}

/** An agent that thinks it is in a container: its MCP servers stay with us, claude runs here. */
export async function performBridged(
  runtime: RuntimeUnderTest,
  on: Stage,
  { servers, agent = "", options, ...rest }: PerformanceOptions & { servers: string },
): Promise<BridgedPerformance> {
  const yaml = `working_directory: ${on.workspace}\ndocker: { enabled: true }\nmcp_servers:\n${servers}\n${agent}`;
  const seen = { notes: "", servers: [] as number[] };
  const bridgedServers = hostServers(agentOf(load(inlineAgent(yaml)), "one"), on.env, {
    HERDCTL_RUN: on.home,
  });
  const observer = {
    serverSpawned: (pid: number) => void seen.servers.push(pid),
    serverNote: (text: string) => {
      seen.notes += text;
    },
  };
  const performance = await perform(runtime, on, {
    ...rest,
    agent: yaml,
    options: { ...options, bridgedServers, observer },
  });
  return { ...performance, ...seen };
}
