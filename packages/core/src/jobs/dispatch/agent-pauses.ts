import { createHash } from "node:crypto";
import type { Environment, LoadedFleet, ResolvedAgent } from "@herdctl/config";
import type { Outcome, OutcomeCode } from "@herdctl/protocol";
import { chooseAgentCredential, credentialIdentity } from "../../claude/credential.ts";
import type { EventHub } from "../../lib/event-hub.ts";
import type { Pause, PauseSubject } from "../../store/model/pause.ts";
import type { StateManager } from "../../store/state-manager.ts";

function agentSubject(agent: string): PauseSubject {
  return `agent:${agent}`;
}

/**
 * The credential that an agent shares with others, identified by a fingerprint. A pause does not
 * apply to a new key.
 */
function credentialSubject(
  agent: ResolvedAgent,
  environment: Environment,
): PauseSubject | undefined {
  const choice = chooseAgentCredential(agent, environment);
  if (choice.kind === "none") return undefined;
  const fingerprint = createHash("sha256").update(credentialIdentity(choice)).digest("hex");
  return `credential:${choice.kind}:${fingerprint.slice(0, 16)}`;
}

/** Returns a function that finds the pause of an agent. */
export function findPauses(
  environment: Environment,
  pauses: readonly Pause[],
): (agent: ResolvedAgent) => Pause | undefined {
  const hasCredentialPause = pauses.some(({ subject }) => subject.startsWith("credential:"));
  return (agent) => {
    if (pauses.length === 0) return undefined;
    const own = agentSubject(agent.name);
    const shared = hasCredentialPause ? credentialSubject(agent, environment) : undefined;
    return pauses.find(({ subject }) => subject === own || subject === shared);
  };
}

/** Pauses and resumes agents, on a person's request or when the API rejects a credential. */
export class AgentPauses {
  constructor(
    private readonly state: StateManager,
    private readonly hub: EventHub,
    private readonly loaded: () => LoadedFleet,
  ) {}

  async pause({ name }: ResolvedAgent, identity: string): Promise<void> {
    const reason = `by ${identity}`;
    await this.state.pauses.pause(agentSubject(name), "operator", reason);
    this.hub.emit({ type: "agent:paused", agent: name, reason });
  }

  async lift(agent: ResolvedAgent): Promise<void> {
    const shared = credentialSubject(agent, this.loaded().environment);
    await this.state.pauses.lift(agentSubject(agent.name));
    if (shared) await this.state.pauses.lift(shared);
    this.hub.emit({ type: "agent:resumed", agent: agent.name });
  }

  /**
   * A credential that fails for one agent fails for all that share it, so all of them are paused.
   */
  async onOutcome(name: string, { code, message }: Outcome): Promise<void> {
    if (/* defence: pause-on-refused-credential */ code !== "auth_failed" && code !== "billing")
      return;
    const { fleet, environment } = this.loaded();
    const agent = fleet.agents.find((agent) => agent.name === name);
    const subject = agent && credentialSubject(agent, environment);
    if (!subject) return;
    const isNew = await this.state.pauses.pause(subject, code, message);
    if (isNew) this.hub.emit({ type: "agent:paused", agent: name, reason: message });
  }
}

/** The pause of the whole fleet while the API is overloaded. */
export interface BackoffState {
  delayMs: number;
  until: Date;
}

const minDelayMs = 5_000;
const maxDelayMs = 5 * 60_000;

/**
 * The backoff after a run has ended. Runs that were in progress when the pause began do not count;
 * only a run that fails after the pause doubles it.
 */
export function nextBackoff(
  previous: BackoffState | undefined,
  outcome: OutcomeCode,
  now: Date,
): BackoffState | undefined {
  if (outcome === "success" || outcome === "finished_with_denials") return undefined;
  if (outcome !== "overloaded" || (previous && now < previous.until)) return previous;
  const delayMs =
    previous && !isStale(previous, now)
      ? Math.min(maxDelayMs, /* defence: overload-backoff */ previous.delayMs * 2)
      : minDelayMs;
  return { delayMs, until: new Date(now.getTime() + delayMs) };
}

/** A pause that ended longer ago than the maximum delay belongs to an earlier overload. */
function isStale({ until }: BackoffState, now: Date): boolean {
  return now.getTime() - until.getTime() > maxDelayMs;
}

export class ApiBackoff {
  private current: BackoffState | undefined;

  get until(): Date | undefined {
    return this.current?.until;
  }

  onOutcome(code: OutcomeCode): void {
    this.current = nextBackoff(this.current, code, new Date());
  }
}
