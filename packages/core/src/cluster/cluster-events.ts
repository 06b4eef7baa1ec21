import { type FleetEvent, Mutex, UserError } from "@herdctl/protocol";
import { z } from "zod";
import type { EventHub } from "../lib/event-hub.ts";
import type { SharedStore } from "../store/sql/shared-store.ts";
import type { StateManager } from "../store/state-manager.ts";

interface ClusterEventsOptions {
  shared: Pick<SharedStore, "notify" | "listen">;
  state: Pick<StateManager, "jobs" | "approvals" | "hooks" | "deliveries">;
  hub: EventHub;
  nodeId: string;
  onNodeJoined?(): void;
  reportError(message: string, cause?: unknown): void;
}

/** The record that an event is about. Receivers of such an event read the record. */
const recordKindByEvent = {
  "job:created": "job",
  "job:started": "job",
  "job:waiting": "job",
  "job:completed": "job",
  "job:failed": "job",
  "job:cancelled": "job",
  "job:skipped": "job",
  "approval:requested": "approval",
  "approval:answered": "approval",
  "hook:attempted": "hook",
  "delivery:received": "delivery",
} as const;
type RecordEvent = keyof typeof recordKindByEvent;

/** Events that are sent entirely. All other events concern one node only. */
const fullySentEvents = new Set<FleetEvent["type"]>([
  "schedule:not_run",
  "schedule:toggled",
  "agent:paused",
  "agent:resumed",
]);

const from = z.string();
const notificationSchema = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("record"),
    from,
    type: z.string(),
    id: z.string(),
    at: z.string(),
  }),
  z.object({ kind: z.literal("whole"), from, event: z.looseObject({ type: z.string() }) }),
  z.object({ kind: z.literal("output"), from, id: z.string() }),
  z.object({ kind: z.literal("plans"), from }),
  z.object({ kind: z.literal("joined"), from }),
]);
type ClusterNotification = z.infer<typeof notificationSchema>;
type RecordNotification = Extract<ClusterNotification, { kind: "record" }>;

/** PostgreSQL notifications are limited to 8,000 bytes. */
const maxNotificationBytes = 7_000;

/**
 * Forwards events of one node to the event hubs of the others. Best effort: records are the truth.
 */
export class ClusterEvents {
  private readonly outputListeners = new Map<string, Set<() => void>>();
  private readonly scheduleListeners = new Set<() => void>();
  private readonly processing = new Mutex();
  private stopForwarding: (() => void) | undefined;
  private unlisten: (() => Promise<void>) | undefined;
  private stopped = false;

  constructor(private readonly options: ClusterEventsOptions) {}

  async start(): Promise<void> {
    const { shared, hub } = this.options;
    this.unlisten = await shared.listen(
      (text) => this.onNotification(text),
      () => this.onMissed(),
    );
    this.stopForwarding = hub.onLocalEvent((event) => this.forwardEvent(event));
    this.sendNotification({ kind: "joined", from: this.options.nodeId });
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.stopForwarding?.();
    await this.unlisten?.();
    await this.processing.whenIdle();
  }

  /** More of a job's log has been shipped. */
  notifyOutput(jobId: string): void {
    this.wake(this.outputListeners.get(jobId));
    this.sendNotification({ kind: "output", from: this.options.nodeId, id: jobId });
  }

  onOutputShipped(jobId: string, wake: () => void): () => void {
    const listeners = this.outputListeners.get(jobId) ?? new Set();
    this.outputListeners.set(jobId, listeners.add(wake));
    return () => {
      listeners.delete(wake);
      if (listeners.size === 0) this.outputListeners.delete(jobId);
    };
  }

  notifySchedulesChanged(): void {
    this.sendNotification({ kind: "plans", from: this.options.nodeId });
  }

  /** Agents on another node have, or may have, changed their schedules. */
  onSchedulesChanged(listener: () => void): void {
    this.scheduleListeners.add(listener);
  }

  private forwardEvent(event: FleetEvent): void {
    const { nodeId } = this.options;
    if (isRecordEvent(event))
      this.sendNotification({
        kind: "record",
        from: nodeId,
        type: event.type,
        id: recordIdOf(event),
        at: event.at,
      });
    else if (fullySentEvents.has(event.type))
      this.sendNotification({ kind: "whole", from: nodeId, event });
  }

  private sendNotification(notification: ClusterNotification): void {
    const text = JSON.stringify(notification);
    if (Buffer.byteLength(text) <= maxNotificationBytes) this.options.shared.notify(text);
  }

  /** Emits notifications in the order of arrival, although records must be read first. */
  private onNotification(text: string): void {
    const notification = parseNotification(text);
    if (!notification || notification.from === this.options.nodeId) return;
    if (notification.kind === "output") this.wake(this.outputListeners.get(notification.id));
    else if (notification.kind === "plans") this.wake(this.scheduleListeners);
    else if (notification.kind === "joined") this.onPeerJoined();
    else
      void this.processing
        .runExclusive(() => this.emitRemote(notification))
        .catch((error) => this.reportFailure(error));
  }

  /** A node that was here before may have settled jobs before it could send events. */
  private onPeerJoined(): void {
    this.options.onNodeJoined?.();
    this.onMissed();
  }

  private async emitRemote(
    notification: Exclude<ClusterNotification, { kind: "output" | "plans" | "joined" }>,
  ): Promise<void> {
    if (this.stopped) return;
    const event =
      notification.kind === "whole"
        ? toFleetEvent(notification.event)
        : await this.readEvent(notification);
    if (event) this.options.hub.emitRemote(event);
    if (event?.type === "schedule:toggled") this.wake(this.scheduleListeners);
  }

  private async readEvent({ type, id, at }: RecordNotification): Promise<FleetEvent | undefined> {
    if (!isRecordType(type)) return undefined;
    const { jobs, approvals, hooks, deliveries } = this.options.state;
    const kind = recordKindByEvent[type];
    const record =
      kind === "job"
        ? await jobs.get(id)
        : kind === "approval"
          ? await approvals.get(id)
          : kind === "hook"
            ? await hooks.get(id)
            : await deliveries.get(id);
    return record && toFleetEvent({ type, [kind]: record, at });
  }

  private onMissed(): void {
    this.options.hub.emitEventsMissed();
    this.wake(this.scheduleListeners);
    for (const listeners of this.outputListeners.values()) this.wake(listeners);
  }

  private wake(listeners: ReadonlySet<() => void> | undefined): void {
    for (const wake of listeners ?? []) wake();
  }

  /**
   * While the store is unavailable nothing can be read; everything is read again when it is back.
   */
  private reportFailure(error: unknown): void {
    if (this.stopped || error instanceof UserError) return;
    this.options.reportError("Failed to handle an event of another node", error);
  }
}

type EventOfRecord = Extract<FleetEvent, { type: RecordEvent }>;

function isRecordType(type: string): type is RecordEvent {
  return Object.hasOwn(recordKindByEvent, type);
}

function isRecordEvent(event: FleetEvent): event is EventOfRecord {
  return isRecordType(event.type);
}

function recordIdOf(event: EventOfRecord): string {
  if ("job" in event) return event.job.id;
  if ("approval" in event) return event.approval.id;
  return "hook" in event ? event.hook.id : event.delivery.id;
}

/** Another node sent it as an event, and its record was read with its schema. */
function toFleetEvent(value: object): FleetEvent {
  return value as FleetEvent;
}

function parseNotification(text: string): ClusterNotification | undefined {
  try {
    return notificationSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
