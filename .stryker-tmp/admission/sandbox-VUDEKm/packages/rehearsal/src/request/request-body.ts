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

/** The fields of a request that the server reads. Other fields are accepted and ignored. */
export const requestBodySchema = z.looseObject({
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

export type RequestBody = z.output<typeof requestBodySchema>;
export type Block = z.output<typeof blockSchema>;
export type Content = z.output<typeof contentSchema>;

export function toBlocks(content: Content | undefined): Block[] {
  if (content === undefined) return [];
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

/** All texts of a content, including those in tool results, in order. */
export function extractTexts(content: Content | undefined): string[] {
  return toBlocks(content).flatMap((block) => {
    if (block.type === "tool_result") return [toolResultText(block)];
    return block.text === undefined ? [] : [block.text];
  });
}

export function toolResultText(result: Block): string {
  const content = contentSchema.safeParse(result.content);
  return content.success ? extractTexts(content.data).join("\n") : "";
}
