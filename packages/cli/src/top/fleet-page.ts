import { type Approval, type FleetControl, isFinished } from "@herdctl/protocol";
import type { TerminalStyle } from "../render/terminal-style.ts";
import { fleetScreen } from "./fleet-screen.ts";
import type { FleetSnapshot } from "./fleet-snapshot.ts";
import type { Key } from "./keys.ts";
import { LogPage } from "./log-page.ts";
import type { Navigation, Page, ScreenSize } from "./page.ts";
import { PermissionPage } from "./permission-page.ts";
import { QuestionAnswerPage } from "./question-answer-page.ts";

/** The selected agent, and the selected or latest job of it. */
interface Selection {
  agent: string;
  jobId: string | undefined;
}

/** Agents and recent jobs as one list. */
export class FleetPage implements Page {
  private selected = 0;
  private note = "";
  private cancelCandidateId: string | undefined;

  constructor(
    private readonly fleet: () => FleetControl,
    private readonly snapshot: () => FleetSnapshot,
    private readonly style: TerminalStyle,
  ) {}

  render(size: ScreenSize, now: Date): string[] {
    const { selected, note, style } = this;
    return fleetScreen(this.snapshot(), { selected, note }, { size, now, style });
  }

  async onKey(key: Key): Promise<Navigation> {
    const isConfirmed = this.cancelCandidateId !== undefined;
    this.note = "";
    if (key.name === "back") return this.abortCancel();
    if (key.name === "letter" && key.letter === "c") return this.cancel(isConfirmed);
    this.cancelCandidateId = undefined;
    if (key.name === "up" || key.name === "down") return this.move(key.name === "up" ? -1 : 1);
    const selection = this.selection;
    if (!selection) return "stay";
    if (key.name === "enter") return this.openLog(selection);
    if (key.name !== "letter") return "stay";
    if (key.letter === "p") return this.pause(selection);
    return key.letter === "a" || key.letter === "d" ? this.openApproval(selection) : "stay";
  }

  close(): void {}

  private get selection(): Selection | undefined {
    const { status, jobs } = this.snapshot();
    const agent = status.agents[this.selected];
    if (agent) {
      return { agent: agent.name, jobId: agent.running[0]?.job_id ?? agent.last_job?.id };
    }
    const job = jobs[this.selected - status.agents.length];
    return job && { agent: job.agent, jobId: job.id };
  }

  private move(step: number): Navigation {
    const { status, jobs } = this.snapshot();
    const last = status.agents.length + jobs.length - 1;
    this.selected = Math.min(Math.max(this.selected + step, 0), Math.max(last, 0));
    return "stay";
  }

  private abortCancel(): Navigation {
    if (this.cancelCandidateId === undefined) return "back";
    this.cancelCandidateId = undefined;
    return "stay";
  }

  private openLog({ jobId }: Selection): Navigation {
    if (jobId !== undefined) return new LogPage(this.fleet(), jobId, this.style);
    this.note = "This agent has no jobs yet.";
    return "stay";
  }

  private async cancel(isConfirmed: boolean): Promise<Navigation> {
    if (isConfirmed && this.cancelCandidateId !== undefined) {
      const id = this.cancelCandidateId;
      this.cancelCandidateId = undefined;
      const job = await this.fleet().jobs.cancel(id);
      this.note = isFinished(job.status) ? `${id} has ended.` : `${id} is stopping.`;
      return "stay";
    }
    const id = this.selection?.jobId;
    const { jobs, status } = this.snapshot();
    const isActive = status.agents.some(({ running }) => running.some((one) => one.job_id === id));
    const job = jobs.find((one) => one.id === id);
    if (id === undefined || (!isActive && (!job || isFinished(job.status)))) {
      this.note = "No running job is selected.";
      return "stay";
    }
    this.cancelCandidateId = id;
    this.note = `Press c again to cancel ${id}.`;
    return "stay";
  }

  private openApproval({ agent, jobId }: Selection): Navigation {
    const { approvals, jobs, status } = this.snapshot();
    const agentJobIds = new Set([
      jobId,
      ...jobs.filter((job) => job.agent === agent).map((job) => job.id),
      ...(status.agents.find(({ name }) => name === agent)?.running ?? []).map((job) => job.job_id),
    ]);
    const [first]: (Approval | undefined)[] = [
      ...approvals.filter((one) => one.job_id === jobId),
      ...approvals.filter((one) => agentJobIds.has(one.job_id)),
      ...approvals,
    ];
    if (first) {
      const job = jobs.find((one) => one.id === first.job_id);
      const ApprovalPage = first.kind === "question" ? QuestionAnswerPage : PermissionPage;
      return new ApprovalPage(this.fleet(), first, job, this.style);
    }
    this.note = "No pending requests or questions.";
    return "stay";
  }

  private async pause({ agent }: Selection): Promise<Navigation> {
    const paused = this.snapshot().status.agents.find(({ name }) => name === agent)?.paused;
    await (paused ? this.fleet().agents.resume(agent) : this.fleet().agents.pause(agent));
    this.note = paused ? `${agent} is resumed.` : `${agent} is paused: no new job starts.`;
    return "stay";
  }
}
