import type { Environment } from "../config/environment.ts";
import type { Fleet } from "../config/load.ts";
import type { ResolvedAgent } from "../config/resolve.ts";
import { lookAround, type Site, type Surroundings } from "../runner/look-around.ts";

/** What was seen so long ago is as good as seen now. */
const freshFor = 1_000;

interface Look {
  agent: ResolvedAgent;
  around: Promise<Surroundings>;
  at: number;
}

/**
 * While a trigger is being recorded, its fleet looks at what the run will find: both wait for the
 * disk, and neither for the other.
 */
export class LookAhead {
  private readonly looks = new Map<string, Look>();

  constructor(
    private readonly frame: {
      state: Site["state"];
      /** As both are now. */
      fleet(): Fleet;
      environment(): Environment;
    },
  ) {}

  /** A job of this agent may be about to start. */
  begin(name: string): void {
    const { state, fleet, environment } = this.frame;
    const { agents, claude_path: claudePath } = fleet();
    const agent = agents.find((one) => one.name === name);
    // A clone is made for jobs that there are.
    if (!agent || agent.working_directory.clone) return;
    const site = { state, agent, environment: environment(), claudePath };
    const around = lookAround(site, new AbortController().signal);
    around.catch(() => undefined);
    this.looks.set(name, { agent, around, at: performance.now() });
  }

  /** What was seen just now, for one job, unless the agent has changed since or something lacked. */
  async take(agent: ResolvedAgent): Promise<Surroundings | undefined> {
    const look = this.looks.get(agent.name);
    this.looks.delete(agent.name);
    const isFresh = look?.agent === agent && performance.now() - look.at < freshFor;
    const around = isFresh ? await look.around.catch(() => undefined) : undefined;
    return around && isWhole(around) ? around : undefined;
  }
}

function isWhole({ workspace, claude }: Surroundings): boolean {
  return workspace.kind === "ready" && claude.kind === "found";
}
