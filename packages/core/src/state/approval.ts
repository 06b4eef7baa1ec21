import { createHash } from "node:crypto";
import { z } from "zod";
import { canonicalJson } from "./canonical-json.ts";
import { type QuestionFacts, questionShape } from "./question.ts";

const time = z.iso.datetime();

export const approvalSchema = z.object({
  id: z.string(),
  /** May a tool be used, or what does a person say to a question? */
  kind: z.enum(["permission", "question"]),
  job_id: z.string(),
  attempt: z.number().int().positive(),
  /** By it a runner asks again for what it has asked before. */
  request_id: z.string().nullable(),
  tool: z.string(),
  input: z.unknown(),
  input_hash: z.string(),
  ...questionShape,
  question: questionShape.question.nullable(),
  asked_at: time,
  expires_at: time,
  /** `reply` is a person's answer to a question, `default` the one taken when nobody gave any. */
  answer: z.enum(["allow", "deny", "reply", "default", "expired", "void"]).nullable(),
  reply: z.string().nullable(),
  /** The identity of the caller, as authenticated. */
  answered_by: z.string().nullable(),
  /** What the caller calls itself; older records know none. */
  answered_note: z.string().nullable().default(null),
  answered_at: time.nullable(),
  /** What the agent is told with a denial; older records know none. */
  reason: z.string().nullable().default(null),
  used: z.boolean(),
});
export type Approval = z.infer<typeof approvalSchema>;

export interface ApprovalRequest
  extends Pick<Approval, "job_id" | "attempt" | "tool" | "input" | "expires_at"> {
  request_id?: string;
  /** Without it, permission is asked for. */
  question?: QuestionFacts;
}

/** A person's word: yes or no to a tool, or the answer to a question. No to a question declines it. */
export type Word = "allow" | "deny" | { reply: string };

/** Equal for equal requests, however their keys are ordered. */
export function hashRequest(tool: string, input: unknown): string {
  return createHash("sha256")
    .update(canonicalJson([tool, input]))
    .digest("hex");
}
