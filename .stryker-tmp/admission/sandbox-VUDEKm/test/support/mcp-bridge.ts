import { fileURLToPath } from "node:url";
import { createHostServers } from "../../packages/core/src/runner/runtimes/mcp/host-servers.ts";
import { agentOf, inlineAgent, loadTestFleet } from "./fleet-config.ts";
import type { TestHarness } from "./harness.ts";
import {
  executeOnRuntime,
  type RuntimeExecution,
  type RuntimeExecutionOptions,
  type RuntimeUnderTest,
} from "./runtimes-under-test.ts";

export const richMcpServer = fileURLToPath(
  new URL("../runtimes/programs/mcp-rich.mjs", import.meta.url),
);

export interface BridgedExecution extends RuntimeExecution {
  notes: string;
  /** The processes of its servers. */
  servers: number[];
}

/** Runs an agent with bridged MCP servers as in a container, with claude on the host. */
export async function executeBridged(
  runtime: RuntimeUnderTest,
  harness: TestHarness,
  { servers, agent = "", options, ...rest }: RuntimeExecutionOptions & { servers: string },
): Promise<BridgedExecution> {
  const yaml = `working_directory: ${harness.workspace}\ndocker: { enabled: true }\nmcp_servers:\n${servers}\n${agent}`;
  const observed = { notes: "", servers: [] as number[] };
  const bridgedServers = createHostServers(
    agentOf(loadTestFleet(inlineAgent(yaml)), "one"),
    harness.env,
    {
      HERDCTL_RUN: harness.home,
    },
  );
  const observer = {
    onServerSpawned: (pid: number) => void observed.servers.push(pid),
    onServerNote: (text: string) => {
      observed.notes += text;
    },
  };
  const performance = await executeOnRuntime(runtime, harness, {
    ...rest,
    agent: yaml,
    options: { ...options, bridgedServers, observer },
  });
  return { ...performance, ...observed };
}
