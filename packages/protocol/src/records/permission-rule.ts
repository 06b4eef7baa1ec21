import { z } from "zod";

/** A rule as Claude Code suggests it: a tool, and what part of it. */
export const toolRuleSchema = z.object({
  tool: z.string(),
  /** Such as `npm test:*`; null for the whole tool. */
  content: z.string().nullable(),
});
export type ToolRule = z.infer<typeof toolRuleSchema>;

/** A permission that a person gave for more than one call. */
export const permissionRuleSchema = z.object({
  id: z.string(),
  agent: z.string(),
  /** Only for the attempts of this job; null for all runs of the agent. */
  job_id: z.string().nullable(),
  /** Rules for `allowed_tools`; empty if only the exact request is allowed. */
  rules: z.array(toolRuleSchema),
  /** The request that was allowed. */
  tool: z.string(),
  input: z.unknown(),
  input_hash: z.string(),
  approval_id: z.string(),
  created_at: z.iso.datetime(),
  /** The authenticated identity of the caller. */
  created_by: z.string(),
});
export type PermissionRule = z.infer<typeof permissionRuleSchema>;
