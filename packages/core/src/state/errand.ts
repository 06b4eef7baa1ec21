import { z } from "zod";

/** What a run asks of its fleet. */
export const errandKindSchema = z.enum(["delegate", "schedule"]);
export type ErrandKind = z.infer<typeof errandKindSchema>;

export const errandAnswerSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("done"), text: z.string() }),
  z.object({ kind: z.literal("refused"), reason: z.string() }),
]);
export type ErrandAnswer = z.infer<typeof errandAnswerSchema>;

/** Resolves when the fleet has answered, however often it is gone meanwhile. */
export type SendErrand = (
  kind: ErrandKind,
  input: Record<string, unknown>,
  signal: AbortSignal,
) => Promise<ErrandAnswer>;
