import { isDeepStrictEqual } from "node:util";
import type { Environment, ResolvedAgent } from "@herdctl/config";
import { runMarkerVariable } from "../../../process-tree/process-table.ts";
import { buildAllowedTools } from "../claude-settings.ts";
import type { ExecuteOptions } from "../runtime-interface.ts";
import { McpBridge } from "./bridge.ts";
import {
  type BridgedServer,
  type BridgedServers,
  type McpServers,
  maxMessageBytes,
  partitionServers,
} from "./bridged-server.ts";
import type { RequiredAccess } from "./method-rules.ts";
import { createRemoteServer } from "./remote-server.ts";

const defaultTimeoutMs = 30_000;

/** The bridged servers of one run. */
export class McpBridges {
  /** Use this to ask for permission, so that approved calls also pass the bridges. */
  readonly onPermission: ExecuteOptions["onPermission"];
  private readonly byName: ReadonlyMap<string, McpBridge>;

  constructor({
    agent,
    bridgedServers = {},
    env,
    observer,
    onPermission,
  }: Pick<ExecuteOptions, NeededOptions>) {
    const rules = new ToolRules(agent);
    this.onPermission = rules.rememberApprovals(onPermission);
    const options = (server: string) => ({
      canCall: (tool: string, input: unknown) => rules.canCall(server, tool, input),
      canAccess: (access: Exclude<RequiredAccess, "tool">) => rules.canAccess(server, access),
      timeoutMs: parseTimeoutMs(env.MCP_TIMEOUT),
      onSpawned: (pid: number) => observer?.onServerSpawned?.(pid),
      logNote: (text: string) => observer?.onServerNote?.(text),
    });
    this.byName = new Map(
      Object.entries(bridgedServers).map(([name, server]) => [
        name,
        new McpBridge(name, server, options(name)),
      ]),
    );
  }

  get names(): string[] {
    return [...this.byName.keys()];
  }

  entries(): [name: string, bridge: McpBridge][] {
    return [...this.byName];
  }

  find(name: string): McpBridge | undefined {
    return this.byName.get(name);
  }

  /** Opens all bridges concurrently, while claude starts. */
  open(): void {
    for (const bridge of this.byName.values()) bridge.open();
  }

  async close(): Promise<void> {
    await Promise.all([...this.byName.values()].map((bridge) => bridge.close()));
  }
}

type NeededOptions = "agent" | "bridgedServers" | "env" | "observer" | "onPermission";

/** Parses `MCP_TIMEOUT`, which Claude Code also uses. */
function parseTimeoutMs(timeout: string | undefined): number {
  const milliseconds = Number(timeout);
  return milliseconds > 0 ? milliseconds : defaultTimeoutMs;
}

/** The servers of an agent that run on the host although claude runs in a container. */
export function createHostServers(
  agent: Pick<ResolvedAgent, "docker" | "mcp_servers" | "fleet_dir">,
  environment: Environment,
  run: Environment,
): BridgedServers {
  const make = (server: McpServers[string]): BridgedServer => {
    if (!("command" in server)) return createRemoteServer(server);
    const { command, args, env: serverVariables } = server;
    const env = buildServerEnvironment(environment, serverVariables, run);
    // Never the agent's folder: files that it plants there would be executed outside its container.
    return createProcessServer({
      command,
      args,
      env,
      cwd: agent.fleet_dir,
      secrets: Object.values(serverVariables),
    });
  };
  const { bridged } = partitionServers(agent);
  return Object.fromEntries(Object.entries(bridged).map(([name, server]) => [name, make(server)]));
}

/**
 * The complete environment of a server on the host: an allow-list of the fleet's variables, the
 * server's own variables, and the markers of the run. Nothing else is taken from the run's
 * environment, because the agent may control it.
 */
export function buildServerEnvironment(
  fleet: Environment,
  serverVariables: Readonly<Record<string, string>>,
  run: Environment,
): Record<string, string> {
  return {
    ...pick(fleet, isInherited),
    ...serverVariables,
    ...pick(run, (name) => runMarkerVariables.has(name)),
  };
}

const runMarkerVariables = new Set(["HERDCTL_JOB", runMarkerVariable]);

const inheritedVariables = new Set([
  ...["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TERM", "TZ", "TMPDIR"],
  ...["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"],
  ...["http_proxy", "https_proxy", "no_proxy", "all_proxy"],
  ...["SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"],
]);

function isInherited(name: string): boolean {
  return inheritedVariables.has(name) || name.startsWith("LC_");
}

function pick(from: Environment, isPicked: (name: string) => boolean): Record<string, string> {
  return Object.fromEntries(
    Object.entries(from).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && isPicked(entry[0]),
    ),
  );
}

interface ServerProcessOptions {
  command: string;
  args: string[];
  /** The complete environment. */
  env: Record<string, string>;
  cwd: string;
  secrets: readonly string[];
}

/** A server that runs as a separate process and uses its standard streams. */
export function createProcessServer({ secrets, ...program }: ServerProcessOptions): BridgedServer {
  return {
    secrets,
    async connect(observer) {
      const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
      const transport = new StdioClientTransport({
        ...program,
        stderr: "pipe",
        maxBufferSize: maxMessageBytes,
      });
      transport.stderr?.on("data", (bytes: Buffer) => observer.onStderr(bytes.toString("utf8")));
      const start = transport.start.bind(transport);
      transport.start = () => {
        const started = start();
        // Called before the start has finished, so that early forks are tracked.
        if (transport.pid !== null) observer.onSpawned(transport.pid);
        return started;
      };
      return transport;
    },
  };
}

type PermissionRules = Pick<
  ResolvedAgent,
  "permission_mode" | "allowed_tools" | "denied_tools" | "host_tools"
>;
type AskPermission = NonNullable<ExecuteOptions["onPermission"]>;

/**
 * Decides which calls reach a bridged server. Claude enforces the agent's rules itself, but a program
 * in its container can impersonate it, and the server is outside the container.
 */
export class ToolRules {
  private readonly oneTimeApprovals: { tool: string; input: unknown }[] = [];

  /** Tools that a person allowed for the rest of the run. */
  private readonly approvedTools: string[] = [];

  constructor(private readonly agent: PermissionRules) {}

  /**
   * Remembers approvals by a person: each allows exactly one call with the same input, or with rules
   * the whole tool.
   */
  rememberApprovals(ask: AskPermission | undefined): AskPermission | undefined {
    return (
      ask &&
      (async (request, signal) => {
        const answer = await ask(request, signal);
        if (answer.behavior === "allow" && request.tool.startsWith("mcp__")) {
          this.oneTimeApprovals.push({ tool: request.tool, input: answer.updatedInput });
          const added = (answer.updatedPermissions ?? []).flatMap(({ rules }) => rules);
          this.approvedTools.push(
            ...added.map(({ toolName }) => toolName).filter((tool) => tool === request.tool),
          );
        }
        return answer;
      })
    );
  }

  canCall(server: string, tool: string, input: unknown = {}): boolean {
    // These servers are on the host, but a limited agent file only controls its container.
    const { permission_mode, allowed_tools } =
      /* defence: host-server-tools */ this.agent.host_tools ?? this.agent;
    // defence: bridge-denied-tools
    if (isToolNamed(this.agent.denied_tools, server, tool)) return false;
    const rules = [...buildAllowedTools({ permission_mode, allowed_tools }), ...this.approvedTools];
    if (permission_mode === "bypassPermissions" || isToolNamed(rules, server, tool)) return true;
    const index = this.oneTimeApprovals.findIndex(
      (approval) =>
        approval.tool === toolName(server, tool) && isDeepStrictEqual(approval.input, input),
    );
    return index !== -1 && this.oneTimeApprovals.splice(index, 1).length > 0;
  }

  /** Access to resources and prompts: allowed by Claude Code's tool for it, or with the whole server. */
  canAccess(server: string, access: Exclude<RequiredAccess, "tool">): boolean {
    if (access === "always") return true;
    const { permission_mode, allowed_tools, denied_tools } = this.agent;
    const named = (rules: readonly string[]) => {
      if (isServerNamed(rules, server)) return true;
      return (
        access !== "whole_server" &&
        rules.some((rule) => matchesPattern(rule, resourceTools[access]))
      );
    };
    if (named(denied_tools)) return false;
    // defence: bridge-resource-rules
    return permission_mode === "bypassPermissions" || named(allowed_tools);
  }
}

const resourceTools = {
  list_resources: "ListMcpResourcesTool",
  read_resources: "ReadMcpResourceTool",
} as const;

/** Whether rules such as `mcp__github__*` match a tool. */
export function isToolNamed(rules: readonly string[], server: string, tool: string): boolean {
  const name = toolName(server, tool);
  return rules.some(
    (rule) => rule === `mcp__${normalizeName(server)}` || matchesPattern(rule, name),
  );
}

/** A rule covers the whole server if it matches a tool name that cannot exist. */
function isServerNamed(rules: readonly string[], server: string): boolean {
  const name = `mcp__${normalizeName(server)}`;
  return rules.some((rule) => rule === name || matchesPattern(rule, `${name}__\0`));
}

function toolName(server: string, tool: string): string {
  return `mcp__${normalizeName(server)}__${normalizeName(tool)}`;
}

/** Normalizes names like Claude Code. */
function normalizeName(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9_-]/g, "_");
}

function matchesPattern(rule: string, name: string): boolean {
  const parts = rule.split("*").map((part) => part.replaceAll(/[\\^$.|?+()[\]{}]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`).test(name);
}
