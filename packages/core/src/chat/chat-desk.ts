import type { ResolvedAgent } from "../config/resolve.ts";
import type { Approval } from "../state/approval.ts";
import { type Platform, platformSchema } from "../state/chat.ts";
import type { Job } from "../state/job.ts";
import type { ChatFleet } from "./chat-fleet.ts";
import { ChatLink, type ChatLinkStatus } from "./chat-link.ts";
import { wordsOf } from "./listening.ts";

const tidyEvery = 3_600_000;
const mostAtOnce = 500;

/** All agents of a fleet that are in a chat, as the configuration of now says. */
export class ChatDesk {
  private readonly links = new Map<string, ChatLink>();
  /** Those that could not even be opened. */
  private readonly refused = new Map<string, ChatLinkStatus>();
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
    return [...[...this.links.values()].map((link) => link.status), ...this.refused.values()];
  }

  /** A question came up, or was answered. */
  asked(approval: Approval): void {
    for (const link of this.links.values()) link.asked(approval);
  }

  /** A job has to wait: whoever asked for it sees why. */
  waits(job: Job): void {
    if (job.due_at === null) return;
    for (const link of this.links.values()) link.waits(job);
  }

  private async settle(): Promise<void> {
    if (!this.open) return;
    this.refused.clear();
    const wanted = new Map(this.wanted().map((one) => [one.key, one]));
    for (const [key, link] of this.links) {
      if (wanted.has(key)) continue;
      this.links.delete(key);
      await link.close(0);
    }
    for (const { key, agent, platform } of wanted.values()) {
      if (!this.links.has(key)) await this.connect(key, agent, platform);
    }
    this.report();
  }

  private async connect(key: string, agent: ResolvedAgent, platform: Platform): Promise<void> {
    const load = this.fleet.platforms[platform];
    if (!load || !agent.chat) return;
    try {
      const { open } = await load();
      const environment = this.fleet.environment();
      const connector = open({ agent: agent.name, settings: agent.chat, environment });
      const changed = () => this.report();
      const parts = { fleet: this.fleet, agent, platform, connector, changed };
      this.links.set(key, new ChatLink(parts));
    } catch (error) {
      const refusal = { state: "failed" as const, problem: wordsOf(error), working: 0 };
      this.refused.set(key, { agent: agent.name, platform, ...refusal });
    }
  }

  /** The fleet as a whole tells of one problem; `chat status` tells of all. */
  private report(): void {
    const failed = this.status.find(({ state }) => state === "failed");
    const { agent, platform, problem } = failed ?? {};
    this.fleet.problem(failed && `${agent} in ${platform}: ${problem}`);
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
