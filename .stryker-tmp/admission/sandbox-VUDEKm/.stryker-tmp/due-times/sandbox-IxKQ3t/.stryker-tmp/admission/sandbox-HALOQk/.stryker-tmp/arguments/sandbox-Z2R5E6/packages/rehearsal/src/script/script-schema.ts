import { z } from "zod";
import { faultsSchema } from "./fault.ts";
import { durationSchema, patternSchema } from "./value-schemas.ts";

const usageSchema = z.strictObject({
  input_tokens: z.int().min(0).optional(),
  output_tokens: z.int().min(0).optional(),
  cache_creation_input_tokens: z.int().min(0).optional(),
  cache_read_input_tokens: z.int().min(0).optional(),
});

const toolCallSchema = z.strictObject({
  name: z.string().min(1),
  input: z.record(z.string(), z.unknown()).default({}),
});

const replySchema = z.union([
  z.string(),
  z.strictObject({
    thinking: z.string().optional(),
    text: z.string().optional(),
    tools: z.array(toolCallSchema).optional(),
    usage: usageSchema.optional(),
    delay: z
      .strictObject({ first: durationSchema.optional(), between: durationSchema.optional() })
      .optional(),
  }),
]);

const matchSchema = z.strictObject({
  prompt: patternSchema.optional(),
  system: patternSchema.optional(),
  tool_result: patternSchema.optional(),
  model: patternSchema.optional(),
  tag: z.string().min(1).optional(),
  turn: z.int().min(1).optional(),
  from: z.enum(["main", "subagent", "side", "any"]).optional(),
});

const ruleSchema = z
  .strictObject({
    name: z.string().min(1).optional(),
    match: matchSchema.optional(),
    reply: replySchema.optional(),
    replies: z.array(replySchema).min(1).optional(),
    repeat: z.boolean().optional(),
    fault: faultsSchema.optional(),
    times: z.int().min(1).optional(),
  })
  .superRefine((rule, context) => {
    const addIssue = (message: string, hint: string) =>
      context.addIssue({ code: "custom", message, params: { hint } });
    if (rule.reply !== undefined && rule.replies !== undefined)
      addIssue(
        "this rule has both `reply` and `replies`",
        "Remove one of them. `replies` is a list of replies.",
      );
    if (rule.reply === undefined && rule.replies === undefined && rule.fault === undefined)
      addIssue("this rule has no reply and no fault", "Add `reply:`, `replies:` or `fault:`.");
  });

export const scriptSchema = z.strictObject({
  mode: z.enum(["scripted", "obedient"]).optional(),
  /** Accepted API keys and tokens. Default: any. */
  keys: z.array(z.string().min(1)).optional(),
  default: replySchema.optional(),
  rules: z.array(ruleSchema).default([]),
});

/** A script as written in YAML or as an object. */
export type Script = z.input<typeof scriptSchema>;

export type CheckedScript = z.output<typeof scriptSchema>;
export type Rule = CheckedScript["rules"][number];
export type Match = NonNullable<Rule["match"]>;
export type ScriptReply = z.output<typeof replySchema>;
