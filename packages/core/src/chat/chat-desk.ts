import type { ResolvedAgent } from "../config/resolve.ts";
import type { Approval } from "../state/approval.ts";
import { type Platform, platformSchema } from "../state/chat.ts";
import type { ChatFleet } from "./chat-fleet.ts";
import { ChatLink } from "./chat-link.ts";

export interface ChatLinkStatus {
  agent: string;
  platform: Platform;
  state: "connecting" | "connected" | "failed";
  problem: string | null;
  working: number;
}

const tidyEvery = 3_600_000;
const mostAtOnce = 500;

/** All agents of a fleet that are in a chat, as the configuration of now says. */
export class ChatDesk {
  private readonly links = new Map<string, ChatLink>();
  private turn: Promise<void> = Promise.resolve();
  private tidying: NodeJS.Timeout | undefined;
  private open = false;

  constructor(private readonly fleet: ChatFleet) {}

  start(): void {
    this.open = true;
    this.tidying = setInterval(() => void this.tidy(), tidyEvery).unref();
    void this.adjust();
  }

  /** Opens what is new in the configuration and closes what is gone, one after the other. */
  adjust(): Promise<void> {
    this.turn = this.turn.then(() => this.settle());
    return this.turn;
  }

  async stop(patience: number): Promise<void> {
    this.open = false;
    clearInterval(this.tidying);
    await this.turn;
    await Promise.all([...this.links.values()].map((link) => link.close(patience)));
    this.links.clear();
  }

  get status(): ChatLinkStatus[] {
    return [...this.links.values()].map((link) => {
      const { name, state, problem, working } = link;
      return { ...name, state, problem, working };
    });
  }

  /** A question came up, or was answered. */
  asked(approval: Approval): void {
    for (const link of this.links.values()) link.asked(approval);
  }

  private async settle(): Promise<void> {
    if (!this.open) return;
    const wanted = new Map(this.wanted().map((one) => [one.key, one]));
    for (const [key, link] of this.links) {
      if (wanted.has(key)) continue;
      this.links.delete(key);
      await link.close(0);
    }
    for (const { key, agent, platform } of wanted.values()) {
      if (!this.links.has(key)) await this.connect(key, agent, platform);
    }
  }

  private async connect(key: string, agent: ResolvedAgent, platform: Platform): Promise<void> {
    const load = this.fleet.platforms[platform];
    if (!load || !agent.chat) return;
    try {
      const { open } = await load();
      const environment = this.fleet.environment();
      const connector = open({ agent: agent.name, settings: agent.chat, environment });
      this.links.set(key, new ChatLink({ fleet: this.fleet, agent, platform, connector }));
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.fleet.problem(`${agent.name} in ${platform}: ${message}`);
    }
  }

  private wanted(): { key: string; agent: ResolvedAgent; platform: Platform }[] {
    const environment = this.fleet.environment();
    return this.fleet.fleet().agents.flatMap((agent) =>
      platformSchema.options.flatMap((platform) => {
        const settings = agent.chat?.[platform];
        if (!settings) return [];
        const key = JSON.stringify([
          agent.name,
          platform,
          settings,
          environment[settings.token_env],
        ]);
        return [{ key, agent, platform }];
      }),
    );
  }

  private async tidy(): Promise<void> {
    const { age } = this.fleet.fleet().fleet.retention;
    const before = new Date(Date.now() - age);
    await this.fleet.state.chat.prune(before, mostAtOnce).catch(() => undefined);
  }
}
