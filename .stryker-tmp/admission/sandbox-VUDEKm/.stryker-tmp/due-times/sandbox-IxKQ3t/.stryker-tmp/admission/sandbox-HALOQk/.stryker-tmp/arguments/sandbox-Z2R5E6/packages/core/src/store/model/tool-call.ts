import { z } from "zod";

/** The kinds of tool calls from a run to its fleet. */
export const toolCallKindSchema = z.enum(["delegate", "schedule"]);
export type ToolCallKind = z.infer<typeof toolCallKindSchema>;

export const toolCallAnswerSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("done"), text: z.string() }),
  z.object({ kind: z.literal("refused"), reason: z.string() }),
]);
export type ToolCallAnswer = z.infer<typeof toolCallAnswerSchema>;

/** Resolves when the fleet has answered, even if it was unavailable meanwhile. */
export type SendToolCall = (
  kind: ToolCallKind,
  input: Record<string, unknown>,
  signal: AbortSignal,
) => Promise<ToolCallAnswer>;
