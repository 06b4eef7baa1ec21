import type { ExecuteOptions } from "../interface.ts";
import { Bridge } from "./bridge.ts";
import type { Access } from "./method-rules.ts";
import { ToolRules } from "./tool-rules.ts";

const defaultPatience = 30_000;

/** The bridged servers of one run; they end with it. */
export class Bridges {
  /** What to ask for permission, so that the servers know of it too. */
  readonly onPermission: ExecuteOptions["onPermission"];
  private readonly byName: ReadonlyMap<string, Bridge>;

  constructor({
    agent,
    bridgedServers = {},
    env,
    observer,
    onPermission,
  }: Pick<ExecuteOptions, Needed>) {
    const rules = new ToolRules(agent);
    this.onPermission = rules.remembering(onPermission);
    const options = (server: string) => ({
      mayCall: (tool: string, input: unknown) => rules.allow(server, tool, input),
      permits: (access: Exclude<Access, "tool">) => rules.permits(server, access),
      patience: patienceOf(env.MCP_TIMEOUT),
      spawned: (pid: number) => observer?.serverSpawned?.(pid),
      note: (text: string) => observer?.serverNote?.(text),
    });
    this.byName = new Map(
      Object.entries(bridgedServers).map(([name, server]) => [
        name,
        new Bridge(name, server, options(name)),
      ]),
    );
  }

  get names(): string[] {
    return [...this.byName.keys()];
  }

  entries(): [name: string, bridge: Bridge][] {
    return [...this.byName];
  }

  find(name: string): Bridge | undefined {
    return this.byName.get(name);
  }

  /** All at once, while claude itself starts. */
  open(): void {
    for (const bridge of this.byName.values()) bridge.open();
  }

  async close(): Promise<void> {
    await Promise.all([...this.byName.values()].map((bridge) => bridge.close()));
  }
}

type Needed = "agent" | "bridgedServers" | "env" | "observer" | "onPermission";

/** The variable by which Claude Code is told the same. */
function patienceOf(timeout: string | undefined): number {
  const milliseconds = Number(timeout);
  return milliseconds > 0 ? milliseconds : defaultPatience;
}
