import type { HandOutDecider, HandOutDecision, HandOutFacts } from "../../state/hand-out.ts";
import type { Assignment, Job, LiveJob } from "../../state/job.ts";
import type { JobStore } from "../../state/job-store.ts";
import type { Node } from "../../state/node.ts";
import { type ClaimLimits, isBusy, nextDue } from "../claim.ts";
import type { HandedOut, Hands, Queue } from "../contract.ts";
import { type HandOutRules, isUnbegun, planHandOut } from "../plan-hand-out.ts";
import type { OrderCarrier } from "./order-carrier.ts";
import type { NodeOrder } from "./orders.ts";

export interface BossQueueOptions {
  jobs: Pick<JobStore, "handOut">;
  carrier: Pick<OrderCarrier, "start" | "send" | "stop">;
  /** This node as it joined last. */
  here(): Pick<Node, "id" | "epoch">;
  /** As they were heard of last. */
  nodes(): readonly Node[];
  /** False while another configuration is in force than the one that was read here. */
  mayHandOut(): boolean;
  rules(): Pick<HandOutRules, "places" | "latestOf">;
  /** A short fleet hands out only what is its own, and takes that itself where it can. */
  own?: (jobId: string) => boolean;
  /** It has been begun here, though its record does not say so yet. */
  isActive(jobId: string): boolean;
}

/** An order that was sent is not sent again before this: most have long begun by then. */
const sendAgainAfter = 2_000;
const remembered = 10_000;
/** With more jobs than this a new one most likely waits, and need not be looked at by a writer. */
const shortQueue = 20;

/**
 * The queue of nodes that share a store. Whoever looks decides for all: limits, fairness and places
 * are settled in one transaction, and what was decided is on record before anybody is told. An
 * order is only the quickest way to hear of it: each node also finds its own on record.
 */
export class BossQueue implements Queue {
  readonly lookEvery = 1_000;
  private readonly sent = new Set<string>();
  private readonly noted = new Set<string>();
  private length = 0;

  constructor(private readonly options: BossQueueOptions) {}

  async start(hands: Hands): Promise<void> {
    await this.options.carrier.start({
      carryOut: (order) => this.carryOut(order, hands),
      dead: (order) => this.takeBack(order),
    });
  }

  async handOut(limits: ClaimLimits, now: Date, isNew = false): Promise<HandedOut> {
    let live: readonly LiveJob[] = [];
    const { jobs, here, mayHandOut, rules } = this.options;
    const { id } = here();
    const decide: HandOutDecider = (facts) => {
      live = facts.live;
      if (!mayHandOut()) return nothing;
      return planHandOut(
        this.narrowed(facts),
        { ...limits, ...rules(), servedAt: facts.servedAt },
        id,
        now,
      );
    };
    // Most looks find nothing to do, and a writer keeps all others waiting: so others look first.
    const isLikely = isNew && this.length < shortQueue;
    const isWork = isLikely || this.isWork(await jobs.handOut(decide, "look"));
    const done = isWork ? await jobs.handOut(decide, "write") : nothing;
    this.length = live.length;
    for (const note of done.notes) remember(this.noted, keyOf(note));
    const given = done.assign.filter(({ assigned }) => assigned.node === id).map((one) => one.id);
    const found = this.unbegunHere(live).filter((jobId) => !given.includes(jobId));
    for (const { id: jobId, assigned } of done.assign)
      if (assigned.node !== id) await this.send(jobId, assigned);
    await this.sendAgain(live, now);
    return { here: [...found, ...given], nextDue: nextDue(live, limits, now), length: live.length };
  }

  isOurs(job: Job): boolean {
    const { id, epoch } = this.options.here();
    const { assigned } = job;
    return isUnbegun(job) && assigned?.node === id && assigned.epoch === epoch;
  }

  async cancel(job: Job, force: boolean): Promise<boolean> {
    const node = job.assigned?.node ?? (isBusy(job) ? job.node : null);
    if (node === null || node === this.options.here().id || this.isGone(node)) return false;
    const isSent = await this.options.carrier.send(node, { kind: "cancel", job: job.id, force });
    // What has not begun is ended on record as well: then it never does.
    return isSent && !isUnbegun(job);
  }

  async reload(): Promise<void> {
    const others = this.options.nodes().filter(({ id }) => id !== this.options.here().id);
    for (const { id, status } of others)
      if (status === "live") await this.options.carrier.send(id, { kind: "reload" });
  }

  async stop(): Promise<void> {
    await this.options.carrier.stop();
  }

  /** Others give it nothing, since it is there as one that runs no jobs. */
  private narrowed(facts: HandOutFacts): HandOutFacts {
    const { own, here } = this.options;
    if (!own) return facts;
    const { id } = here();
    return {
      ...facts,
      live: facts.live.filter((job) => isBusy(job) || own(job.id)),
      nodes: facts.nodes.map((node) => (node.id === id ? { ...node, role: "worker" } : node)),
    };
  }

  private isWork({ assign, giveBack, notes }: HandOutDecision): boolean {
    if (assign.length > 0 || giveBack.length > 0) return true;
    return notes.some((note) => !this.noted.has(keyOf(note)));
  }

  private async carryOut(order: NodeOrder, hands: Hands): Promise<void> {
    if (order.kind === "begin") {
      // Whoever is about to stop gives back what it does not begin any more.
      if (!(await hands.begin(order.job))) await this.takeBack(order);
    } else if (order.kind === "cancel") await hands.cancel(order.job, order.force);
    else await hands.reload();
  }

  /** It could not be begun there, however often it was tried. */
  private async takeBack(order: NodeOrder): Promise<void> {
    if (order.kind !== "begin") return;
    const isMeant = ({ id, assigned }: LiveJob) =>
      id === order.job &&
      assigned?.at === order.assigned.at &&
      assigned.node === order.assigned.node;
    const decide: HandOutDecider = ({ live }) => {
      const back = live.filter((job) => isMeant(job) && isUnbegun(job));
      return { ...nothing, giveBack: back.map(({ id }) => id) };
    };
    const { jobs } = this.options;
    // Mostly it has begun by now, or is over.
    if (this.isWork(await jobs.handOut(decide, "look"))) await jobs.handOut(decide, "write");
  }

  /** Orders that got lost, or an attempt that broke off before it was on record. */
  private unbegunHere(live: readonly LiveJob[]): string[] {
    const { here, isActive } = this.options;
    const { id, epoch } = here();
    return live
      .filter((job) => isUnbegun(job) && job.assigned?.node === id && job.assigned.epoch === epoch)
      .map((job) => job.id)
      .filter((jobId) => !isActive(jobId));
  }

  /** Whoever was to send it may be gone. */
  private async sendAgain(live: readonly LiveJob[], now: Date): Promise<void> {
    for (const job of live) {
      const { assigned } = job;
      if (!assigned || !isUnbegun(job) || assigned.node === this.options.here().id) continue;
      if (now.getTime() - Date.parse(assigned.at) < sendAgainAfter) continue;
      if (!this.sent.has(`${job.id} ${assigned.at}`)) await this.send(job.id, assigned);
    }
  }

  private async send(job: string, assigned: Assignment): Promise<void> {
    const isSent = await this.options.carrier.send(assigned.node, { kind: "begin", job, assigned });
    if (isSent) remember(this.sent, `${job} ${assigned.at}`);
  }

  /** One that was not heard of yet may be there. */
  private isGone(nodeId: string): boolean {
    return this.options.nodes().some(({ id, status }) => id === nodeId && status !== "live");
  }
}

const nothing: HandOutDecision = { assign: [], notes: [], unknown: [], giveBack: [] };

function keyOf({ id, warning }: { id: string; warning: string }): string {
  return `${id} ${warning}`;
}

/** A node lives long: what is remembered only to save work may be forgotten. */
function remember(what: Set<string>, key: string): void {
  if (what.size >= remembered) what.clear();
  what.add(key);
}
