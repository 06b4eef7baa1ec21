import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import type { Environment } from "../config/environment.ts";
import type { Fleet } from "../config/load.ts";
import type { ResolvedAgent } from "../config/resolve.ts";
import { UserError } from "../errors/user-error.ts";
import type { Job } from "../state/job.ts";
import { isFinished } from "../state/job-status.ts";
import { newJobId } from "../state/names.ts";
import type { StateManager } from "../state/state-manager.ts";
import type { WorkClaim } from "../state/work-claim.ts";
import { openSource } from "./open-source.ts";
import type { Claim, WorkItem, WorkSource } from "./work-source.ts";

export interface WorkDeskOptions {
  state: StateManager;
  fleet(): Fleet;
  environment(): Environment;
  /** Whether what becomes of claimed items is for this process to see to. */
  isOurs(): boolean;
  /** Others may be about to bring a job to the door. */
  isShared: boolean;
  /** Ends a job whose item is somebody else's by now. */
  abandon(jobId: string, why: string): Promise<void>;
  trouble(message: string, cause?: unknown): void;
}

export type Taken =
  | { kind: "taken"; claim: WorkClaim; item: WorkItem }
  /** Nothing that this fleet could have, and why. */
  | { kind: "none"; why: string };

/** After so many failures a person has to look at an item. */
const mostFailures = 3;
const looksAt = 20;
const lookEvery = 60_000;
const soonest = 1_000;
const longestAtTheDoor = 60_000;

/**
 * Takes work from the agents' sources, one item a job, and gives back what became of it. The claim
 * is on record before it is made, so that after a death every item is found where it stood.
 */
export class WorkDesk {
  private readonly stopping = new AbortController();
  /** Jobs that this process is about to bring to the door, and since when. */
  private readonly atTheDoor = new Map<string, number>();
  private readonly sources = new Map<string, WorkSource>();
  private timer: NodeJS.Timeout | undefined;
  private passing: Promise<void> | undefined;
  private again = false;
  private failures = 0;

  constructor(private readonly options: WorkDeskOptions) {}

  start(): void {
    this.kick();
  }

  /** A job has ended: what it worked on may be settled. */
  kick(): void {
    if (this.stopping.signal.aborted || !this.options.isOurs()) return;
    this.again = true;
    this.passing ??= this.passes().finally(() => {
      this.passing = undefined;
      if (this.again) this.kick();
    });
  }

  /** Lets what is over be given back, for so long; the rest is left to the next fleet. */
  async stop(patience: number): Promise<void> {
    const deadline = Date.now() + patience;
    while (this.passing && Date.now() < deadline) await delay(25);
    clearTimeout(this.timer);
    this.stopping.abort();
    await this.passing;
  }

  /** The oldest free item, for a job of the id that stands in the claim. */
  async take(agent: ResolvedAgent): Promise<Taken> {
    const source = this.sourceOf(agent);
    if (!source) return { kind: "none", why: `\`${agent.name}\` has no work source` };
    const first = await this.takeOneOf(source, agent);
    if (first) return first;
    const freed = await source.stale();
    const second = freed.length > 0 ? await this.takeOneOf(source, agent) : undefined;
    return second ?? { kind: "none", why: `Nothing is waiting in ${source.name}.` };
  }

  /** A job was admitted or was not: from here on its record tells what becomes of its item. */
  decidedOn(jobId: string): void {
    if (this.atTheDoor.delete(jobId)) this.kick();
  }

  private async takeOneOf(source: WorkSource, agent: ResolvedAgent): Promise<Taken | undefined> {
    for (const { id, title, url } of await source.find(looksAt)) {
      const { name } = agent;
      const job_id = newJobId(new Date());
      const intended = await this.options.state.work.intend({
        agent: name,
        source: source.name,
        item: id,
        title,
        url,
        job_id,
      });
      if (!intended) continue;
      const taken = await this.claim(source, intended);
      if (taken) return taken;
    }
    return undefined;
  }

  private async claim(source: WorkSource, intended: WorkClaim): Promise<Taken | undefined> {
    const { state, fleet } = this.options;
    const { id, item, agent } = intended;
    this.atTheDoor.set(intended.job_id, Date.now());
    const claimant = { claimId: id, fleet: fleet().fleet.name, agent };
    const answer = await source.claim(item, claimant).catch((error: unknown) => {
      // Nobody knows whether it was made: the next pass releases it if it was.
      this.atTheDoor.delete(intended.job_id);
      throw error;
    });
    if (answer.kind === "claimed") {
      const change = { status: "claimed" as const, handle: answer.handle };
      return { kind: "taken", claim: await state.work.change(id, change), item: answer.item };
    }
    this.atTheDoor.delete(intended.job_id);
    await state.work.change(id, { status: "released", note: `it was ${answer.kind}` });
    return undefined;
  }

  private async passes(): Promise<void> {
    // Whoever waits for the job is answered first.
    await nextTurn();
    clearTimeout(this.timer);
    while (this.again && !this.stopping.signal.aborted) {
      this.again = false;
      try {
        await this.pass();
      } catch (error) {
        // A state that is away says so itself.
        if (!(error instanceof UserError))
          this.options.trouble("claimed work could not be looked after", error);
        this.failures += 1;
        this.lookAgain([]);
      }
    }
  }

  private async pass(): Promise<void> {
    const open = await this.options.state.work.open();
    const results = [];
    for (const claim of open) results.push(await this.carryOn(claim));
    this.failures = results.includes(false) ? this.failures + 1 : 0;
    if (open.length > 0) this.lookAgain(open);
  }

  private lookAgain(open: readonly WorkClaim[]): void {
    clearTimeout(this.timer);
    // Twice before a renewal is due, which is long before a claim becomes stale.
    const calm = Math.min(lookEvery, ...open.map((claim) => this.renewEvery(claim) / 2));
    const pause = this.failures === 0 ? calm : soonest * 2 ** Math.min(this.failures, 8);
    this.timer = setTimeout(() => this.kick(), Math.max(pause, soonest)).unref();
  }

  private renewEvery({ agent: name }: WorkClaim): number {
    const agent = this.options.fleet().agents.find((one) => one.name === name);
    return (agent?.work_source?.stale_after ?? Number.POSITIVE_INFINITY) / 3;
  }

  /** False when it could not be done now. */
  private async carryOn(claim: WorkClaim): Promise<boolean> {
    if (Date.now() - (this.atTheDoor.get(claim.job_id) ?? 0) < longestAtTheDoor) return true;
    try {
      const agent = this.options.fleet().agents.find(({ name }) => name === claim.agent);
      const source = agent && this.sourceOf(agent);
      // Without its source nobody can give it back; it becomes stale by itself.
      if (!source || source.name !== claim.source) return true;
      const job = await this.options.state.jobs.get(claim.job_id);
      if (!job && this.isAtAnotherDoor(claim)) return true;
      if (job && !isFinished(job.status)) await this.keep(source, claim);
      else await this.settle(source, claim, job);
      return true;
    } catch (error) {
      if (!this.stopping.signal.aborted) {
        this.options.trouble(
          `the claim on ${claim.source} ${claim.item} could not be settled`,
          error,
        );
      }
      return false;
    }
  }

  private isAtAnotherDoor({ renewed_at }: WorkClaim): boolean {
    return this.options.isShared && Date.now() - Date.parse(renewed_at) < longestAtTheDoor;
  }

  private async keep(source: WorkSource, claim: WorkClaim): Promise<void> {
    if (!claim.announced) {
      await source.announce(this.known(claim));
      await this.options.state.work.change(claim.id, { announced: true });
    }
    if (Date.now() - Date.parse(claim.renewed_at) < this.renewEvery(claim)) return;
    const answer = await source.renew(this.known(claim));
    if (answer.kind === "lost") return this.yield(claim);
    const renewed_at = new Date().toISOString();
    await this.options.state.work.change(claim.id, { handle: answer.handle, renewed_at });
  }

  /** Two at the same work would be in each other's way, and the other one has the right to it. */
  private async yield(claim: WorkClaim): Promise<void> {
    const why = `${claim.source} ${claim.item} was taken over by somebody else while it was worked on`;
    await this.options.abandon(claim.job_id, why);
    await this.options.state.work.change(claim.id, { status: "lost", note: why });
    this.options.trouble(why);
  }

  private async settle(source: WorkSource, claim: WorkClaim, job: Job | undefined): Promise<void> {
    const { work } = this.options.state;
    const known = this.known(claim);
    if (job?.status === "completed") {
      const { id: jobId, cost_usd: costUsd } = job;
      const settled = await source.complete(known, { jobId, summary: job.summary ?? "", costUsd });
      await work.change(claim.id, { status: settled === "done" ? "completed" : "lost" });
      return;
    }
    const failed = job?.status === "failed";
    const before = failed ? await work.failures(claim.source, claim.item) : 0;
    const why = whyReleased(job);
    const setAside = failed && before + 1 >= mostFailures;
    const told = claim.announced ? why : null;
    const settled = await source.release(known, { why: told, setAside });
    const wasNeverMade = claim.status === "claiming" && settled === "lost";
    const status = settled === "done" || wasNeverMade ? "released" : "lost";
    await work.change(claim.id, { status, failed, note: why });
  }

  private known({ id: claimId, agent, item, handle }: WorkClaim): Claim {
    return { claimId, agent, fleet: this.options.fleet().fleet.name, item, handle };
  }

  /** Kept while neither the configuration nor the token changes: it remembers what it asked once. */
  private sourceOf(agent: ResolvedAgent): WorkSource | undefined {
    if (!agent.work_source) return undefined;
    const environment = this.options.environment();
    const key = JSON.stringify([agent.work_source, environment[agent.work_source.token_env]]);
    const known = this.sources.get(key) ?? openSource(agent, environment, this.stopping.signal);
    if (known) this.sources.set(key, known);
    return known;
  }
}

function whyReleased(job: Job | undefined): string {
  if (!job) return "The fleet ended before it began.";
  return `Not done: ${job.outcome?.message ?? job.status} (${job.outcome?.code ?? "?"}, ${job.id})`;
}
