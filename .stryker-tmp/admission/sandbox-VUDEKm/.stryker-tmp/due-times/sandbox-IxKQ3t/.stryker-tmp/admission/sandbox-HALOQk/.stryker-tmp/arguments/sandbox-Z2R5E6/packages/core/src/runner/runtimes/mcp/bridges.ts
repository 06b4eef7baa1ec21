import type { ExecuteOptions } from "../runtime-interface.ts";
import { McpBridge } from "./bridge.ts";
import type { RequiredAccess } from "./method-rules.ts";
import { ToolRules } from "./tool-rules.ts";

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
