import type { Environment, ResolvedAgent } from "@herdctl/config";
import { canonicalJson } from "../lib/canonical-json.ts";
import { Semaphore } from "../lib/semaphore.ts";
import { withTimeout } from "../lib/timeout.ts";
import { isRequiredServer } from "../runner/execution/startup-failures.ts";
import { maskSecrets } from "../runner/runtimes/mcp/bridge.ts";
import type { BridgedServer } from "../runner/runtimes/mcp/bridged-server.ts";
import { buildServerEnvironment, createProcessServer } from "../runner/runtimes/mcp/bridges.ts";
import { describeError } from "../runner/runtimes/mcp/connection.ts";
import { createRemoteServer } from "../runner/runtimes/mcp/remote-server.ts";
import { type Finding, failed, notChecked, ok, warning } from "./check.ts";

const name = "mcp";
/** Claude Code waits as long for a server. */
const startTimeoutMs = 30_000;
const maxConcurrent = 4;

type ServerOwner = Pick<
  ResolvedAgent,
  | "name"
  | "file"
  | "mcp_servers"
  | "allowed_tools"
  | "docker"
  | "env"
  | "fleet_dir"
  | "working_directory"
>;

/** Starts each MCP server once, even if several agents have it, and lists its tools. */
export async function checkMcpServers(
  agents: readonly ServerOwner[],
  context: { environment: Environment; offline?: boolean; signal: AbortSignal },
): Promise<Finding[]> {
  const limit = new Semaphore(maxConcurrent);
  const started = new Map<string, Promise<ServerState>>();
  const checks = agents.flatMap((agent) =>
    Object.entries(agent.mcp_servers).map(async ([serverName, config]) => {
      const server = openServer(agent, config, context);
      if (typeof server === "string") return evaluateServer(agent, serverName, { skipped: server });
      const key = canonicalJson([config, workingFolderOf(agent), agent.env]);
      const state = started.get(key) ?? limit.run(() => startServer(server, context.signal));
      started.set(key, state);
      return evaluateServer(agent, serverName, await state);
    }),
  );
  return Promise.all(checks);
}

type ServerState = { tools: number } | { failure: string } | { skipped: string };

function evaluateServer(agent: ServerOwner, server: string, state: ServerState): Finding {
  const facts = { agent: agent.name, place: agent.file };
  if ("skipped" in state)
    return { ...notChecked(name, `${server}: ${state.skipped}`), agent: agent.name };
  if ("tools" in state) {
    const tools = `${state.tools} ${state.tools === 1 ? "tool" : "tools"}`;
    return { ...ok(name, `${server} starts and offers ${tools}.`), agent: agent.name };
  }
  const isRequired = isRequiredServer(agent, server);
  const effect = isRequired ? "Jobs end with `mcp_failed`." : "Jobs run without its tools.";
  const problem = isRequired ? failed : warning;
  const hint = `Correct \`mcp_servers.${server}\`. A program that is not on the PATH needs its path.`;
  return {
    ...problem(name, `${server} does not start: ${state.failure} ${effect}`, hint),
    ...facts,
  };
}

/** The server as a run would start it, or why it is not checked. */
function openServer(
  agent: ServerOwner,
  config: ServerOwner["mcp_servers"][string],
  { environment, offline }: { environment: Environment; offline?: boolean },
): BridgedServer | string {
  if (agent.docker.enabled && config.run === "container")
    return "not checked, because it runs in the container.";
  if (!("command" in config))
    return offline ? "not checked, because of `--offline`." : createRemoteServer(config);
  const own = agent.docker.enabled ? {} : agent.env;
  return createProcessServer({
    command: config.command,
    args: config.args,
    env: buildServerEnvironment(environment, { ...own, ...config.env }, {}),
    cwd: workingFolderOf(agent),
    secrets: Object.values({ ...own, ...config.env }),
  });
}

function workingFolderOf({ docker, fleet_dir, working_directory }: ServerOwner): string {
  return docker.enabled || working_directory.clone ? fleet_dir : working_directory.path;
}

async function startServer(server: BridgedServer, signal: AbortSignal): Promise<ServerState> {
  const stderr: string[] = [];
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const client = new Client({ name: "herdctl-doctor", version: "1" });
  try {
    return await withTimeout(signal, startTimeoutMs, async (limit) => {
      const transport = await server.connect({
        onSpawned: () => undefined,
        onStderr: (text) => stderr.push(text),
      });
      await client.connect(transport, { signal: limit, timeout: startTimeoutMs });
      if (!client.getServerCapabilities()?.tools) return { tools: 0 };
      const { tools } = await client.listTools({}, { signal: limit, timeout: startTimeoutMs });
      return { tools: tools.length };
    });
  } catch (error) {
    const output = stderr.join("").trim().split("\n").at(-1) ?? "";
    const reason = [describeError(error), output].filter((text) => text !== "").join(": ");
    return { failure: `${maskSecrets(reason, server.secrets ?? []).slice(0, 300)}.` };
  } finally {
    await client.close().catch(() => undefined);
  }
}
