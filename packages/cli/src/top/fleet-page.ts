import type { Approval, FleetControl } from "@herdctl/core";
import { isFinished } from "@herdctl/core/light";
import type { Look } from "../show/look.ts";
import { AnswerPage } from "./answer-page.ts";
import { fleetScreen } from "./fleet-lines.ts";
import type { Key } from "./keys.ts";
import { LogPage } from "./log-page.ts";
import type { Facts } from "./news.ts";
import type { Move, Page, Size } from "./page.ts";
import { QuestionPage } from "./question-page.ts";

/** What the keys are about: an agent, and one of its jobs if it has any. */
interface Choice {
  agent: string;
  jobId: string | undefined;
}

/** Agents and recent jobs, one list to walk through. */
export class FleetPage implements Page {
  private selected = 0;
  private note = "";
  private toCancel: string | undefined;

  constructor(
    private readonly fleet: () => FleetControl,
    private readonly facts: () => Facts,
    private readonly look: Look,
  ) {}

  lines(size: Size, now: Date): string[] {
    const { selected, note, look } = this;
    return fleetScreen(this.facts(), { selected, note }, { size, now, look });
  }

  async press(key: Key): Promise<Move> {
    const isSecond = this.toCancel !== undefined;
    this.note = "";
    if (key.name === "back") return this.backFromCancel();
    if (key.name === "letter" && key.letter === "c") return this.cancel(isSecond);
    this.toCancel = undefined;
    if (key.name === "up" || key.name === "down") return this.move(key.name === "up" ? -1 : 1);
    const choice = this.choice;
    if (!choice) return "stay";
    if (key.name === "enter") return this.log(choice);
    if (key.name !== "letter") return "stay";
    if (key.letter === "p") return this.pause(choice);
    return key.letter === "a" || key.letter === "d" ? this.question(choice) : "stay";
  }

  close(): void {}

  private get choice(): Choice | undefined {
    const { status, jobs } = this.facts();
    const agent = status.agents[this.selected];
    if (agent) {
      return { agent: agent.name, jobId: agent.running[0]?.job_id ?? agent.last_job?.id };
    }
    const job = jobs[this.selected - status.agents.length];
    return job && { agent: job.agent, jobId: job.id };
  }

  private move(step: number): Move {
    const { status, jobs } = this.facts();
    const last = status.agents.length + jobs.length - 1;
    this.selected = Math.min(Math.max(this.selected + step, 0), Math.max(last, 0));
    return "stay";
  }

  private backFromCancel(): Move {
    if (this.toCancel === undefined) return "back";
    this.toCancel = undefined;
    return "stay";
  }

  private log({ jobId }: Choice): Move {
    if (jobId !== undefined) return new LogPage(this.fleet(), jobId, this.look);
    this.note = "It has not done anything yet.";
    return "stay";
  }

  private async cancel(isSecond: boolean): Promise<Move> {
    if (isSecond && this.toCancel !== undefined) {
      const id = this.toCancel;
      this.toCancel = undefined;
      const job = await this.fleet().cancel(id);
      this.note = isFinished(job.status) ? `${id} is over.` : `${id} is asked to stop.`;
      return "stay";
    }
    const id = this.choice?.jobId;
    const { jobs, status } = this.facts();
    const isActive = status.agents.some(({ running }) => running.some((one) => one.job_id === id));
    const job = jobs.find((one) => one.id === id);
    if (id === undefined || (!isActive && (!job || isFinished(job.status)))) {
      this.note = "Nothing to cancel there.";
      return "stay";
    }
    this.toCancel = id;
    this.note = `c again cancels ${id}`;
    return "stay";
  }

  private question({ agent, jobId }: Choice): Move {
    const { approvals, jobs, status } = this.facts();
    const own = new Set([
      jobId,
      ...jobs.filter((job) => job.agent === agent).map((job) => job.id),
      ...(status.agents.find(({ name }) => name === agent)?.running ?? []).map((job) => job.job_id),
    ]);
    const [first]: (Approval | undefined)[] = [
      ...approvals.filter((one) => one.job_id === jobId),
      ...approvals.filter((one) => own.has(one.job_id)),
      ...approvals,
    ];
    if (first) {
      const job = jobs.find((one) => one.id === first.job_id);
      const AskedPage = first.kind === "question" ? AnswerPage : QuestionPage;
      return new AskedPage(this.fleet(), first, job, this.look);
    }
    this.note = "Nobody asks for anything.";
    return "stay";
  }

  private async pause({ agent }: Choice): Promise<Move> {
    const paused = this.facts().status.agents.find(({ name }) => name === agent)?.paused;
    await (paused ? this.fleet().resumeAgent(agent) : this.fleet().pauseAgent(agent));
    this.note = paused ? `${agent} goes on.` : `${agent} is paused: nothing new starts.`;
    return "stay";
  }
}
