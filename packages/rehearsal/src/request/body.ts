import { z } from "zod";

const blockSchema = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  id: z.string().optional(),
  name: z.string().optional(),
  input: z.unknown().optional(),
  tool_use_id: z.string().optional(),
  content: z.unknown().optional(),
});

const contentSchema = z.union([z.string(), z.array(blockSchema)]);

/** What the server reads of a request; whatever else the client sends passes through unread. */
export const bodySchema = z.looseObject({
  model: z.string(),
  messages: z.array(z.looseObject({ role: z.string(), content: contentSchema })).min(1),
  system: contentSchema.optional(),
  tools: z
    .array(z.looseObject({ name: z.string().optional(), description: z.string().optional() }))
    .optional(),
  max_tokens: z.number().optional(),
  stream: z.boolean().optional(),
  metadata: z.looseObject({ user_id: z.string().optional() }).optional(),
  output_config: z
    .looseObject({ format: z.looseObject({ schema: z.unknown().optional() }).nullish() })
    .nullish(),
});

export type RequestBody = z.output<typeof bodySchema>;
export type Block = z.output<typeof blockSchema>;
export type Content = z.output<typeof contentSchema>;

export function blocksOf(content: Content | undefined): Block[] {
  if (content === undefined) return [];
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

/** Every text in a content, also inside tool results, in reading order. */
export function textsOf(content: Content | undefined): string[] {
  return blocksOf(content).flatMap((block) => {
    if (block.type === "tool_result") return [resultText(block)];
    return block.text === undefined ? [] : [block.text];
  });
}

export function resultText(result: Block): string {
  const content = contentSchema.safeParse(result.content);
  return content.success ? textsOf(content.data).join("\n") : "";
}
