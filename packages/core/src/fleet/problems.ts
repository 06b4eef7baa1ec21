import type { EventHub } from "./event-hub.ts";

type Kind = "state" | "node" | "configuration" | "port" | "chat";

/** What is wrong with a fleet as a whole; each problem is told once when it comes up. */
export class Problems {
  private readonly known = new Map<Kind, string>();

  constructor(private readonly hub: EventHub) {}

  /** The one to show: a fleet that cannot record anything has no worse one. */
  get worst(): string | null {
    const kinds: Kind[] = ["state", "node", "configuration", "port", "chat"];
    return kinds.map((kind) => this.known.get(kind)).find((message) => message) ?? null;
  }

  has(kind: Kind): boolean {
    return this.known.has(kind);
  }

  set(kind: Kind, message: string | undefined): void {
    if (message === undefined) return void this.known.delete(kind);
    if (this.known.get(kind) === message) return;
    this.known.set(kind, message);
    this.hub.emit({ type: "fleet:problem", message });
  }
}
