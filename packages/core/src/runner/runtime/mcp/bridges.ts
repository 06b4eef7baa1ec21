import type { ExecuteOptions } from "../interface.ts";
import { Bridge } from "./bridge.ts";

const defaultPatience = 30_000;

/** The bridged servers of one run; they end with it. */
export class Bridges {
  private readonly byName: ReadonlyMap<string, Bridge>;

  constructor({ bridgedServers = {}, env, observer }: Pick<ExecuteOptions, Needed>) {
    const options = {
      patience: patienceOf(env.MCP_TIMEOUT),
      spawned: (pid: number) => observer?.serverSpawned?.(pid),
      note: (text: string) => observer?.serverNote?.(text),
    };
    this.byName = new Map(
      Object.entries(bridgedServers).map(([name, server]) => [
        name,
        new Bridge(name, server, options),
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

type Needed = "bridgedServers" | "env" | "observer";

/** The variable by which Claude Code is told the same. */
function patienceOf(timeout: string | undefined): number {
  const milliseconds = Number(timeout);
  return milliseconds > 0 ? milliseconds : defaultPatience;
}
