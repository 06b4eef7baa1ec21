import { z } from "zod";
import { type AllowScope, allowScopes } from "./allow-scopes.ts";
import { toolRuleSchema } from "./permission-rule.ts";
import { type QuestionSpec, questionFields } from "./question.ts";

const time = z.iso.datetime();

export const approvalSchema = z.object({
  id: z.string(),
  /** A request to use a tool, or a question to a person. */
  kind: z.enum(["permission", "question"]),
  job_id: z.string(),
  attempt: z.number().int().positive(),
  /** Identifies a repeated request of the runner. */
  request_id: z.string().nullable(),
  tool: z.string(),
  input: z.unknown(),
  input_hash: z.string(),
  ...questionFields,
  question: questionFields.question.nullable(),
  /** The rules that `always` writes; if empty, it allows the exact request. Missing in older records. */
  suggested_rules: z.array(toolRuleSchema).default([]),
  requested_at: time,
  expires_at: time,
  /** `reply` is a person's answer to a question, `default` the configured answer after a timeout. */
  answer: z.enum(["allow", "deny", "reply", "default", "expired", "void"]).nullable(),
  reply: z.string().nullable(),
  /** How long a permission lasts; null without a permission, and missing in older records. */
  scope: z.enum(allowScopes).nullable().default(null),
  /** The authenticated identity of the caller. */
  answered_by: z.string().nullable(),
  /** The name that the caller gave itself; missing in older records. */
  answered_note: z.string().nullable().default(null),
  answered_at: time.nullable(),
  /** The reason of a denial, which the agent receives; missing in older records. */
  reason: z.string().nullable().default(null),
  used: z.boolean(),
});
export type Approval = z.infer<typeof approvalSchema>;

export interface ApprovalRequest
  extends Pick<Approval, "job_id" | "attempt" | "tool" | "input" | "expires_at"> {
  request_id?: string;
  suggested_rules?: Approval["suggested_rules"];
  /** Without a question, this is a request for permission. */
  question?: QuestionSpec;
}

/** A person's decision. `allow` is for this request only; `deny` declines a question. */
export type ApprovalDecision = "allow" | "deny" | { allow: AllowScope } | { reply: string };
