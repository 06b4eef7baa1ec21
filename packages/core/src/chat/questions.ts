import { setTimeout as delay } from "node:timers/promises";
import { UserError } from "../errors/user-error.ts";
import type { Approval } from "../state/approval.ts";
import type { ChatMessage, Platform } from "../state/chat.ts";
import { isBoundTo, readButton, wordOf } from "./approval-buttons.ts";
import { approvalFile, approvalPost, fitsWhole, type ShownRequest } from "./approval-post.ts";
import { chatActor } from "./chat-actor.ts";
import type { ChatFleet } from "./chat-fleet.ts";
import { type ButtonPress, ChatError, type Connector, type OutgoingPost } from "./connector.ts";

interface QuestionDesk {
  fleet: ChatFleet;
  agent: string;
  platform: Platform;
  approvers: readonly string[];
  connector: Pick<Connector, "fits" | "limits">;
  /** Puts a question beside the answer that it holds up, if that is written here. */
  put(jobId: string, subject: string, post: OutgoingPost): Promise<void>;
}

/** Questions of running jobs in the chat where the job came from, and who may answer them. */
export class Questions {
  constructor(private readonly desk: QuestionDesk) {}

  async ask(approval: Approval): Promise<void> {
    const { approvers, connector, fleet, put } = this.desk;
    const fits = (post: OutgoingPost) => connector.fits(post);
    const options = { approvers, fits, inboxUrl: inboxOf(fleet.url()) };
    const isOpen = approval.answer === null && approvers.length > 0;
    const shown: ShownRequest =
      !isOpen || fitsWhole(approval, options) ? { kind: "whole" } : await this.attach(approval);
    await put(approval.job_id, approval.id, approvalPost(approval, { ...options, shown }));
  }

  /** Posts the whole request as a file, before anybody is offered to allow it. */
  private async attach(approval: Approval): Promise<ShownRequest> {
    const { connector, put } = this.desk;
    const file = approvalFile(approval);
    const { name } = file;
    if (file.content.length > connector.limits.file)
      return { kind: "cut", reason: "it is too long for a file." };
    const post = { text: `📎 \`${name}\``, files: [file] };
    const posted = put(approval.job_id, `${approval.id} file`, post);
    try {
      await within(maxUploadMs, posted);
      return { kind: "attached", fileName: name };
    } catch (error) {
      if (!(error instanceof ChatError)) throw error;
      return { kind: "cut", reason: `its file could not be posted: ${error.message}` };
    }
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
      await fleet.answer(approval.id, word, chatActor(platform, sender));
      await respond(word === "allow" ? "Allowed." : word === "deny" ? "Denied." : "Answered.");
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      await respond(error.message);
    }
  }
}

const maxUploadMs = 20_000;

/** An upload is tried again and again; the agent's request must not wait for it. */
async function within(milliseconds: number, work: Promise<void>): Promise<void> {
  const over = new AbortController();
  const late = delay(milliseconds, undefined, { signal: over.signal }).then(() => {
    throw new ChatError("The upload takes too long.", "", true);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    over.abort();
    work.catch(ignore);
    late.catch(ignore);
  }
}

function inboxOf(url: string | null): string | null {
  return url === null ? null : new URL("/inbox", url).href;
}

function ignore(): void {}
