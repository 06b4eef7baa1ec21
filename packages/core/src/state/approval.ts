import { createHash } from "node:crypto";
import { z } from "zod";

const time = z.iso.datetime();

export const approvalSchema = z.object({
  id: z.string(),
  job_id: z.string(),
  attempt: z.number().int().positive(),
  tool: z.string(),
  input: z.unknown(),
  input_hash: z.string(),
  asked_at: time,
  expires_at: time,
  answer: z.enum(["allow", "deny", "expired", "void"]).nullable(),
  answered_by: z.string().nullable(),
  answered_at: time.nullable(),
  /** What the agent is told with a denial; older records know none. */
  reason: z.string().nullable().default(null),
  used: z.boolean(),
});
export type Approval = z.infer<typeof approvalSchema>;

export type ApprovalRequest = Pick<
  Approval,
  "job_id" | "attempt" | "tool" | "input" | "expires_at"
>;

/** Equal for equal requests, however their keys are ordered. */
export function hashRequest(tool: string, input: unknown): string {
  return createHash("sha256")
    .update(JSON.stringify([tool, sorted(input)]))
    .digest("hex");
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
}
