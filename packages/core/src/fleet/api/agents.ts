import type { AgentStatus, AgentsApi, FleetStatus, Note, NotesApi } from "@herdctl/protocol";
import { AgentMemory, memoryDir } from "../../store/files/agent-memory.ts";
import type { FleetContext } from "./fleet-context.ts";

export class FleetAgents implements AgentsApi {
  constructor(
    private readonly context: FleetContext,
    private readonly status: () => Promise<FleetStatus>,
  ) {}

  async list(): Promise<AgentStatus[]> {
    return (await this.status()).agents;
  }

  async get(agent: string): Promise<AgentStatus | undefined> {
    return (await this.list()).find(({ name }) => name === agent);
  }

  pause(agent: string): Promise<void> {
    return this.context.perform({ action: "agent.pause", target: agent }, ({ pauses }) =>
      pauses.pause(this.context.lifecycle.agent(agent), this.context.actor.identity),
    );
  }

  resume(agent: string): Promise<void> {
    const action = { action: "agent.resume" as const, target: agent };
    return this.context.perform(action, async ({ pauses, dispatcher }) => {
      await pauses.lift(this.context.lifecycle.agent(agent));
      dispatcher.wake();
    });
  }
}

export class FleetNotes implements NotesApi {
  constructor(private readonly context: FleetContext) {}

  list(agent: string): Promise<Note[]> {
    return this.context.read(async () => this.memoryOf(agent).list());
  }

  read(agent: string, name: string): Promise<string | undefined> {
    return this.context.read(async () => this.memoryOf(agent).read(name));
  }

  private memoryOf(agent: string): AgentMemory {
    const { lifecycle } = this.context;
    const { stateDir } = lifecycle.runningServices.state;
    return new AgentMemory(memoryDir(stateDir, lifecycle.agent(agent).name));
  }
}
