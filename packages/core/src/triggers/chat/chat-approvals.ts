import {
  type Approval,
  type ApprovalDecision,
  type ChatMessage,
  type ChatPlatformName,
  raceTimeout,
  UserError,
} from "@herdctl/protocol";
import {
  approvalFile,
  approvalPost,
  canShowWhole,
  decisionFor,
  isBoundTo,
  parseButtonValue,
  type RequestVisibility,
} from "./approval-post.ts";
import type { ChatFleetApi } from "./chat-fleet-api.ts";
import { chatActor } from "./chat-fleet-api.ts";
import { type ButtonPress, ChatError, type Connector, type OutgoingPost } from "./connector.ts";

interface ChatApprovalsDeps {
  fleet: ChatFleetApi;
  agent: string;
  platform: ChatPlatformName;
  approvers: readonly string[];
  /** Approvers who may also write rules. */
  ruleApprovers: readonly string[];
  connector: Pick<Connector, "fits" | "limits">;
  /** Posts next to the answer of the job, if that answer is written in this chat. */
  postBesideAnswer(jobId: string, subject: string, post: OutgoingPost): Promise<void>;
}

/** Requests of running jobs in the chat where the job came from, and who may answer them. */
export class ChatApprovals {
  constructor(private readonly deps: ChatApprovalsDeps) {}

  async showApproval(approval: Approval): Promise<void> {
    const { approvers, ruleApprovers, connector, fleet, postBesideAnswer } = this.deps;
    const fits = (post: OutgoingPost) => connector.fits(post);
    const options = { approvers, ruleApprovers, fits, inboxUrl: inboxUrlOf(fleet.dashboardUrl()) };
    const isOpen = approval.answer === null && approvers.length > 0;
    const visibility: RequestVisibility =
      !isOpen || canShowWhole(approval, options)
        ? { kind: "whole" }
        : await this.postRequestFile(approval);
    await postBesideAnswer(
      approval.job_id,
      approval.id,
      approvalPost(approval, { ...options, visibility }),
    );
  }

  /** Posts the whole request as a file before anyone can allow it. */
  private async postRequestFile(approval: Approval): Promise<RequestVisibility> {
    const { connector, postBesideAnswer } = this.deps;
    const file = approvalFile(approval);
    const { name } = file;
    if (file.content.length > connector.limits.maxFileBytes)
      return { kind: "cut", reason: "it is too long for a file." };
    const post = { text: `📎 \`${name}\``, files: [file] };
    const posted = postBesideAnswer(approval.job_id, `${approval.id} file`, post);
    try {
      // defence: upload-before-allow
      await raceTimeout(posted, maxUploadMs, throwTimeout);
      return { kind: "attached", fileName: name };
    } catch (error) {
      if (!(error instanceof ChatError)) throw error;
      return { kind: "cut", reason: `its file could not be posted: ${error.message}` };
    }
  }

  /** Shows requests that were opened while no fleet process was running. */
  async showOpenApprovals(jobId: string): Promise<void> {
    const { state } = this.deps.fleet;
    for (const approval of await state.approvals.listOpen(jobId))
      void this.showApproval(approval).catch(noop);
  }

  /** Updates the posts of an answered message, whose requests can no longer be answered. */
  async closePosts({ id, job_id }: ChatMessage): Promise<void> {
    const { state } = this.deps.fleet;
    for (const { subject } of await state.chat.listPosts(id)) {
      const approval = await state.approvals.get(subject);
      if (approval && job_id !== null) await this.showApproval(approval).catch(noop);
    }
  }

  /** Only an approver's press counts, only for the exact request of the button, and only once. */
  async handleButton({ value, chosenIndexes, sender, respond }: ButtonPress): Promise<void> {
    const { fleet, approvers, ruleApprovers, platform } = this.deps;
    const button = parseButtonValue(value);
    const approval = button && (await fleet.state.approvals.get(button.approvalId));
    if (!button || !approval) return respond("This request is closed.");
    // All agents that share an app receive the press.
    const job = await fleet.state.jobs.get(approval.job_id);
    if (job?.agent !== this.deps.agent) return;
    if (!approvers.includes(sender.id)) {
      return respond("Only the approvers of this agent can answer this.");
    }
    if (!isBoundTo(button, approval)) return respond("This request is closed.");
    try {
      const decision = decisionFor(button, approval, chosenIndexes);
      if (decision === undefined) return await respond("Nothing was chosen.");
      const mayWriteRules = /* defence: chat-rule-approvers */ ruleApprovers.includes(sender.id);
      if (isLasting(decision) && !mayWriteRules)
        return await respond("Only the rule approvers of this agent can allow this always.");
      await fleet.answerApproval(approval.id, decision, chatActor(platform, sender));
      await respond(confirmationOf(decision));
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      await respond(error.message);
    }
  }
}

function isLasting(decision: ApprovalDecision): boolean {
  return typeof decision === "object" && "allow" in decision && decision.allow === "always";
}

function confirmationOf(decision: ApprovalDecision): string {
  if (decision === "allow") return "Allowed once.";
  if (decision === "deny") return "Denied.";
  if ("reply" in decision) return "Answered.";
  return decision.allow === "job" ? "Allowed for this job." : "Allowed always.";
}

const maxUploadMs = 20_000;

/** Uploads are retried many times, but the agent's request must not wait for that. */
function throwTimeout(): never {
  throw new ChatError("The upload took too long.", "", true);
}

function inboxUrlOf(url: string | null): string | null {
  return url === null ? null : new URL("/inbox", url).href;
}

function noop(): void {}
