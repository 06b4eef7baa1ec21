import type { LoadedFleet } from "../config/load.ts";
import type { ResolvedAgent } from "../config/resolve.ts";
import type { Outcome } from "../state/outcome.ts";
import type { StateManager } from "../state/state-manager.ts";
import type { EventHub } from "./event-hub.ts";
import { agentSubject, credentialSubject } from "./pauses.ts";

/** Holds agents back and lets them go on, by a person's word or by what the API says of a credential. */
export class AgentPauses {
  constructor(
    private readonly state: StateManager,
    private readonly hub: EventHub,
    private readonly loaded: () => LoadedFleet,
  ) {}

  async pause({ name }: ResolvedAgent): Promise<void> {
    const reason = "paused by hand";
    await this.state.pauses.pause(agentSubject(name), "operator", reason);
    this.hub.emit({ type: "agent:paused", agent: name, reason });
  }

  async lift(agent: ResolvedAgent): Promise<void> {
    const shared = credentialSubject(agent, this.loaded().environment);
    await this.state.pauses.lift(agentSubject(agent.name));
    if (shared) await this.state.pauses.lift(shared);
    this.hub.emit({ type: "agent:resumed", agent: agent.name });
  }

  /** A credential that failed once fails for all who share it: they are paused, once. */
  async heed(name: string, { code, message }: Outcome): Promise<void> {
    if (code !== "auth_failed" && code !== "billing") return;
    const { fleet, environment } = this.loaded();
    const agent = fleet.agents.find((one) => one.name === name);
    const subject = agent && credentialSubject(agent, environment);
    if (!subject) return;
    const isNew = await this.state.pauses.pause(subject, code, message);
    if (isNew) this.hub.emit({ type: "agent:paused", agent: name, reason: message });
  }
}
