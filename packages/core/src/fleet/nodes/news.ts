import { z } from "zod";
import { UserError } from "../../errors/user-error.ts";
import type { SharedStore } from "../../state/shared.ts";
import type { StateManager } from "../../state/state-manager.ts";
import type { FleetEvent } from "../control.ts";
import type { EventHub } from "../event-hub.ts";

export interface NewsOptions {
  shared: Pick<SharedStore, "notify" | "listen">;
  state: Pick<StateManager, "jobs" | "approvals" | "hooks" | "deliveries">;
  hub: EventHub;
  /** The id of this node. */
  here: string;
  /** Another node has come. */
  joined?(): void;
  trouble(message: string, cause?: unknown): void;
}

/** Of which record an event tells; whoever hears of it reads that record. */
const recordOf = {
  "job:created": "job",
  "job:started": "job",
  "job:waiting": "job",
  "job:completed": "job",
  "job:failed": "job",
  "job:cancelled": "job",
  "job:skipped": "job",
  "approval:asked": "approval",
  "approval:answered": "approval",
  "hook:tried": "hook",
  "delivery:received": "delivery",
} as const;
type RecordEvent = keyof typeof recordOf;

/** Told as they are. All others concern one node only. */
const wholeEvents = new Set<FleetEvent["type"]>([
  "schedule:not_run",
  "schedule:switched",
  "agent:paused",
  "agent:resumed",
]);

const from = z.string();
const noteSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("record"), from, type: z.string(), id: z.string() }),
  z.object({ kind: z.literal("whole"), from, event: z.looseObject({ type: z.string() }) }),
  z.object({ kind: z.literal("output"), from, id: z.string() }),
  z.object({ kind: z.literal("plans"), from }),
  z.object({ kind: z.literal("joined"), from }),
]);
type Note = z.infer<typeof noteSchema>;

/** The notifications of PostgreSQL take no more than 8,000 bytes. */
const longest = 7_000;

/** Carries what happens on one node to the hubs of the others. Best effort: records are the truth. */
export class News {
  private readonly outputs = new Map<string, Set<() => void>>();
  private readonly plans = new Set<() => void>();
  private handling: Promise<void> = Promise.resolve();
  private leave: (() => void) | undefined;
  private unlisten: (() => Promise<void>) | undefined;
  private stopped = false;

  constructor(private readonly options: NewsOptions) {}

  async start(): Promise<void> {
    const { shared, hub } = this.options;
    this.unlisten = await shared.listen(
      (text) => this.hear(text),
      () => this.missed(),
    );
    this.leave = hub.carry((event) => this.carry(event));
    this.tell({ kind: "joined", from: this.options.here });
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.leave?.();
    await this.unlisten?.();
    await this.handling;
  }

  /** More of the log of a job has been shipped. */
  tellOutput(jobId: string): void {
    this.wake(this.outputs.get(jobId));
    this.tell({ kind: "output", from: this.options.here, id: jobId });
  }

  onOutput(jobId: string, wake: () => void): () => void {
    const wakes = this.outputs.get(jobId) ?? new Set();
    this.outputs.set(jobId, wakes.add(wake));
    return () => {
      wakes.delete(wake);
      if (wakes.size === 0) this.outputs.delete(jobId);
    };
  }

  /** Agents have planned other runs, or taken some back. */
  tellPlans(): void {
    this.tell({ kind: "plans", from: this.options.here });
  }

  /** What agents have planned has changed on another node, or may have. */
  onPlans(read: () => void): void {
    this.plans.add(read);
  }

  private carry(event: FleetEvent): void {
    const { here } = this.options;
    if (isRecordEvent(event))
      this.tell({ kind: "record", from: here, type: event.type, id: idOf(event) });
    else if (wholeEvents.has(event.type)) this.tell({ kind: "whole", from: here, event });
  }

  private tell(note: Note): void {
    const text = JSON.stringify(note);
    if (Buffer.byteLength(text) <= longest) this.options.shared.notify(text);
  }

  /** In the order in which it was told, though records have to be read. */
  private hear(text: string): void {
    const note = parse(text);
    if (!note || note.from === this.options.here) return;
    if (note.kind === "output") this.wake(this.outputs.get(note.id));
    else if (note.kind === "plans") this.wake(this.plans);
    else if (note.kind === "joined") this.meet();
    else
      this.handling = this.handling
        .then(() => this.passOn(note))
        .catch((error) => this.fail(error));
  }

  /** One that was here before may have settled something already, when it could not tell of it yet. */
  private meet(): void {
    this.options.joined?.();
    this.missed();
  }

  private async passOn(
    note: Exclude<Note, { kind: "output" | "plans" | "joined" }>,
  ): Promise<void> {
    if (this.stopped) return;
    const event =
      note.kind === "whole" ? asEvent(note.event) : await this.readEvent(note.type, note.id);
    if (event) this.options.hub.emitFromElsewhere(event);
    if (event?.type === "schedule:switched") this.wake(this.plans);
  }

  private async readEvent(type: string, id: string): Promise<FleetEvent | undefined> {
    if (!isRecordType(type)) return undefined;
    const { jobs, approvals, hooks, deliveries } = this.options.state;
    const kind = recordOf[type];
    const record =
      kind === "job"
        ? await jobs.get(id)
        : kind === "approval"
          ? await approvals.get(id)
          : kind === "hook"
            ? await hooks.get(id)
            : await deliveries.get(id);
    return record && asEvent({ type, [kind]: record });
  }

  private missed(): void {
    this.options.hub.tellMissed();
    this.wake(this.plans);
    for (const wakes of this.outputs.values()) this.wake(wakes);
  }

  private wake(wakes: ReadonlySet<() => void> | undefined): void {
    for (const wake of wakes ?? []) wake();
  }

  /** With the store away nobody can read, and all look again when it is back. */
  private fail(error: unknown): void {
    if (this.stopped || error instanceof UserError) return;
    this.options.trouble("news of another node could not be passed on", error);
  }
}

type EventOfRecord = Extract<FleetEvent, { type: RecordEvent }>;

function isRecordType(type: string): type is RecordEvent {
  return Object.hasOwn(recordOf, type);
}

function isRecordEvent(event: FleetEvent): event is EventOfRecord {
  return isRecordType(event.type);
}

function idOf(event: EventOfRecord): string {
  if ("job" in event) return event.job.id;
  if ("approval" in event) return event.approval.id;
  return "hook" in event ? event.hook.id : event.delivery.id;
}

/** The edge: it was an event where it was told, and its record was read by its schema. */
function asEvent(value: object): FleetEvent {
  return value as FleetEvent;
}

function parse(text: string): Note | undefined {
  try {
    return noteSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
