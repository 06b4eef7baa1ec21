import type { EventHub } from "./event-hub.ts";

type ProblemKind = "state" | "node" | "configuration" | "port" | "chat";

/** Problems of the fleet as a whole. Each is emitted once when it occurs. */
export class FleetProblems {
  private readonly messages = new Map<ProblemKind, string>();

  constructor(private readonly hub: EventHub) {}

  /** The problem to show; a store that cannot be written comes first. */
  get worst(): string | null {
    const kinds: ProblemKind[] = ["state", "node", "configuration", "port", "chat"];
    return kinds.map((kind) => this.messages.get(kind)).find((message) => message) ?? null;
  }

  has(kind: ProblemKind): boolean {
    return this.messages.has(kind);
  }

  set(kind: ProblemKind, message: string | undefined): void {
    if (message === undefined) return void this.messages.delete(kind);
    if (this.messages.get(kind) === message) return;
    this.messages.set(kind, message);
    this.hub.emit({ type: "fleet:problem", message });
  }
}
