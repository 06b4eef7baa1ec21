import { randomUUID } from "node:crypto";
import { approvalExpiry } from "../runner/approval-desk.ts";
import type { PermissionAnswer, PermissionRequest } from "../runner/runtime/permission.ts";
import type { Question, Reply } from "../state/question.ts";
import type { ApprovalAsked, ApprovalWithdrawn, ToRunner } from "./contract.ts";

type Answer = Extract<ToRunner, { type: "answer" }>;
type Word = Answer | "expired" | "withdrawn";

/** The fleet ends a question in time; only where none is there, it is for us to do. */
const graceForFleet = 5_000;

/** More at once no person could answer; whoever speaks in claude's name could ask without end. */
const mostOpen = 100;

export interface Audience {
  asked(approval: ApprovalAsked): void;
  withdrawn(approval: ApprovalWithdrawn): void;
}

/**
 * What this run asks of people and waits for. Whoever is connected is asked; if nobody is, a
 * request waits until somebody comes or its time is over. Silence is never consent.
 */
export class OpenApprovals {
  private readonly open = new Map<string, { asked: ApprovalAsked; close(word: Word): void }>();

  constructor(private readonly audience: Audience) {}

  get all(): ApprovalAsked[] {
    return [...this.open.values()].map(({ asked }) => asked);
  }

  readonly ask = async (
    { tool, input, description }: PermissionRequest,
    signal: AbortSignal,
  ): Promise<PermissionAnswer> => {
    const expires_at = new Date(Date.now() + approvalExpiry).toISOString();
    const about = { tool, input, expires_at, ...(description !== undefined && { description }) };
    return permissionOf(await this.wordOn(about, signal), input);
  };

  readonly question = async (
    { tool, input, expires_at, ...question }: Question,
    signal: AbortSignal,
  ): Promise<Reply> =>
    replyOf(await this.wordOn({ tool, input, expires_at, question }, signal), question);

  /** The first word counts. */
  answer(word: Answer): void {
    this.open.get(word.request_id)?.close(word);
  }

  private wordOn(
    about: Omit<ApprovalAsked, "type" | "request_id" | "asked_at">,
    signal: AbortSignal,
  ): Promise<Word> {
    if (this.open.size >= mostOpen) return Promise.resolve("withdrawn");
    const request_id = randomUUID();
    const asked_at = new Date().toISOString();
    const asked: ApprovalAsked = { type: "approval", request_id, asked_at, ...about };
    return new Promise((resolve) => {
      const left = Date.parse(about.expires_at) - Date.now() + graceForFleet;
      const expiry = setTimeout(() => close("expired"), left);
      const withdraw = () => close("withdrawn");
      const close = (word: Word) => {
        if (!this.open.delete(request_id)) return;
        clearTimeout(expiry);
        signal.removeEventListener("abort", withdraw);
        const why = typeof word === "string" ? word : "answered";
        this.audience.withdrawn({ type: "approval_withdrawn", request_id, why });
        resolve(word);
      };
      this.open.set(request_id, { asked, close });
      this.audience.asked(asked);
      signal.addEventListener("abort", withdraw, { once: true });
      if (signal.aborted) withdraw();
    });
  }
}

function permissionOf(word: Word, input: PermissionRequest["input"]): PermissionAnswer {
  if (typeof word === "string") return { behavior: "deny", message: "Nobody allowed this." };
  if (word.behavior === "allow") return { behavior: "allow", updatedInput: input };
  return { behavior: "deny", message: word.message || "A person denied this." };
}

/** An older fleet knows of no replies: what it allows is no answer to a question. */
function replyOf(word: Word, { default_reply }: Pick<Question, "default_reply">): Reply {
  if (word === "expired" && default_reply !== null) return { kind: "default", text: default_reply };
  if (typeof word === "string") return { kind: "none", why: word };
  return word.reply ?? { kind: "none", why: "nobody" };
}
