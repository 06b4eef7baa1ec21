import { UserError } from "../errors/user-error.ts";
import type { Approval } from "../state/approval.ts";
import type { ChatMessage } from "../state/chat.ts";
import { approvalPost, isBoundTo, readButton, wordOf } from "./approval-post.ts";
import type { ChatFleet } from "./chat-fleet.ts";
import type { ButtonPress, OutgoingPost } from "./connector.ts";

interface QuestionDesk {
  fleet: ChatFleet;
  agent: string;
  platform: string;
  approvers: readonly string[];
  /** Puts a question beside the answer that it holds up, if that is written here. */
  put(jobId: string, subject: string, post: OutgoingPost): Promise<void>;
}

/** Questions of running jobs in the chat where the job came from, and who may answer them. */
export class Questions {
  constructor(private readonly desk: QuestionDesk) {}

  async ask(approval: Approval): Promise<void> {
    const post = approvalPost(approval, this.desk.approvers);
    await this.desk.put(approval.job_id, approval.id, post);
  }

  /** Those that were asked while nobody of us was there. */
  async askOpen(jobId: string): Promise<void> {
    const { state } = this.desk.fleet;
    for (const approval of await state.approvals.open(jobId)) void this.ask(approval).catch(ignore);
  }

  /** The message is answered: no question of its job can be answered any more. */
  async close({ id, job_id }: ChatMessage): Promise<void> {
    const { state } = this.desk.fleet;
    for (const { subject } of await state.chat.posts(id)) {
      const approval = await state.approvals.get(subject);
      if (approval && job_id !== null) await this.ask(approval).catch(ignore);
    }
  }

  /** Only an approver's press counts, for exactly the request that the button was made for, once. */
  async press({ value, chosen, sender, respond }: ButtonPress): Promise<void> {
    const { fleet, approvers, platform } = this.desk;
    const button = readButton(value);
    const approval = button && (await fleet.state.approvals.get(button.approvalId));
    if (!button || !approval) return respond("This is no longer asked.");
    // Agents that share an app all hear of it.
    const job = await fleet.state.jobs.get(approval.job_id);
    if (job?.agent !== this.desk.agent) return;
    if (!approvers.includes(sender.id)) {
      return respond("Only the approvers of this agent can answer that.");
    }
    if (!isBoundTo(button, approval)) return respond("This is no longer asked.");
    try {
      const word = wordOf(button, approval, chosen);
      if (word === undefined) return await respond("Nothing was chosen.");
      await fleet.answer(approval.id, word, `${platform}:${sender.id}`);
      await respond(word === "allow" ? "Allowed." : word === "deny" ? "Denied." : "Answered.");
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      await respond(error.message);
    }
  }
}

function ignore(): void {}
