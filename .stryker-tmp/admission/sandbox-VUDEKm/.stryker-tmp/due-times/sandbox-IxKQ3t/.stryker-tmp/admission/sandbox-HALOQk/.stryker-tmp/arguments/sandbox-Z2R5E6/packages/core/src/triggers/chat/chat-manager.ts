import type { ResolvedAgent } from "@herdctl/config";
import {
  type Approval,
  type ChatConnectionStatus,
  type ChatPlatformName,
  type Job,
  Mutex,
} from "@herdctl/protocol";
import { chatPlatformSchema } from "@herdctl/protocol/schemas";
import { ChatAgentConnection } from "./agent-connection.ts";
import type { ChatFleetApi } from "./chat-fleet-api.ts";
import { errorText } from "./chat-listener.ts";

const pruneIntervalMs = 3_600_000;
const pruneBatchSize = 500;

/** All agents of a fleet that are in a chat, by the current configuration. */
export class ChatManager {
  private readonly connections = new Map<string, ChatAgentConnection>();
  /** Connections that could not be created. */
  private readonly failedToOpen = new Map<string, ChatConnectionStatus>();
  private readonly reconciling = new Mutex();
  private pruneTimer: NodeJS.Timeout | undefined;
  private open = false;

  constructor(private readonly fleet: ChatFleetApi) {}

  start(): void {
    this.open = true;
    this.pruneTimer = setInterval(() => void this.prune(), pruneIntervalMs).unref();
    void this.reconcile();
  }

  /** Opens new connections and closes removed ones, one after the other. */
  reconcile(): Promise<void> {
    return this.reconciling.runExclusive(() => this.reconcileNow());
  }

  async stop(timeoutMs: number): Promise<void> {
    this.open = false;
    clearInterval(this.pruneTimer);
    await this.reconciling.whenIdle();
    await Promise.all(
      [...this.connections.values()].map((connection) => connection.close(timeoutMs)),
    );
    this.connections.clear();
  }

  get status(): ChatConnectionStatus[] {
    return [
      ...[...this.connections.values()].map((connection) => connection.status),
      ...this.failedToOpen.values(),
    ];
  }

  /** Shows a new request, or its answer. */
  showApproval(approval: Approval): void {
    for (const connection of this.connections.values()) connection.showApproval(approval);
  }

  /** Shows why a job is waiting. */
  showWaiting(job: Job): void {
    if (job.due_at === null) return;
    for (const connection of this.connections.values()) connection.showWaiting(job);
  }

  private async reconcileNow(): Promise<void> {
    if (!this.open) return;
    this.failedToOpen.clear();
    const wanted = new Map(
      this.wantedConnections().map((connection) => [connection.key, connection]),
    );
    for (const [key, connection] of this.connections) {
      if (wanted.has(key)) continue;
      this.connections.delete(key);
      await connection.close(0);
    }
    for (const { key, agent, platform } of wanted.values()) {
      if (!this.connections.has(key)) await this.connect(key, agent, platform);
    }
    this.reportStatus();
  }

  private async connect(
    key: string,
    agent: ResolvedAgent,
    platform: ChatPlatformName,
  ): Promise<void> {
    const load = this.fleet.platforms[platform];
    if (!load || !agent.chat) return;
    try {
      const { createConnector } = await load();
      const environment = this.fleet.environment();
      const connector = createConnector({ agent: agent.name, settings: agent.chat, environment });
      const onStatusChanged = () => this.reportStatus();
      const deps = { fleet: this.fleet, agent, platform, connector, onStatusChanged };
      this.connections.set(key, new ChatAgentConnection(deps));
    } catch (error) {
      const failure = {
        state: "failed" as const,
        problem: errorText(error),
        active_conversations: 0,
      };
      this.failedToOpen.set(key, { agent: agent.name, platform, ...failure });
    }
  }

  /**
   * Reports the first failed connection as a problem of the fleet; `chat status` shows all of them.
   */
  private reportStatus(): void {
    const failed = this.status.find(({ state }) => state === "failed");
    const { agent, platform, problem } = failed ?? {};
    this.fleet.onProblem(failed && `${agent} in ${platform}: ${problem}`);
  }

  private wantedConnections(): { key: string; agent: ResolvedAgent; platform: ChatPlatformName }[] {
    const environment = this.fleet.environment();
    return this.fleet.fleet().agents.flatMap((agent) =>
      chatPlatformSchema.options.flatMap((platform) => {
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

  private async prune(): Promise<void> {
    const { age } = this.fleet.fleet().fleet.retention;
    const before = new Date(Date.now() - age);
    await this.fleet.state.chat.prune(before, pruneBatchSize).catch(() => undefined);
  }
}
