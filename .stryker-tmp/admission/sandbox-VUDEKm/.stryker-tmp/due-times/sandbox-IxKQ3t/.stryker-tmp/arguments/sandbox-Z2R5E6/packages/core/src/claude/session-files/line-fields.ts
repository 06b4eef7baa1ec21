import { z } from "zod";
import type { ChatMessage, ContentBlock, SessionLine } from "./session-line.ts";

export function blocksOf(message: ChatMessage | undefined, type: string): ContentBlock[] {
  if (message === undefined || typeof message.content === "string") return [];
  return message.content.filter((block) => block.type === type);
}

/** Id, model, stop reason and usage of an assistant line. */
export function readAssistantMessage(line: SessionLine) {
  return assistantMessageSchema.safeParse(line.message).data;
}

export function readApiErrorStatus(line: SessionLine): number | undefined {
  return typeof line.apiErrorStatus === "number" ? line.apiErrorStatus : undefined;
}

export interface TurnLimit {
  maxTurns: number;
  turnCount: number;
}

export function readTurnLimit(line: SessionLine): TurnLimit | undefined {
  const limit = turnLimitSchema.safeParse(line.attachment).data;
  return limit && { maxTurns: limit.maxTurns, turnCount: limit.turnCount };
}

/** Cumulative over the whole session, including resume and fork. */
export interface SessionCost {
  totalCostUsd: number;
  apiDurationMs: number;
  modelUsage: Record<string, unknown>;
}

export function readCost(line: SessionLine): SessionCost | undefined {
  const cost = costSchema.safeParse(line).data;
  return (
    cost && {
      totalCostUsd: cost.totalCostUSD,
      apiDurationMs: cost.totalAPIDuration,
      modelUsage: cost.modelUsage,
    }
  );
}

const tokens = z.number().catch(0);

const assistantMessageSchema = z.object({
  id: z.string(),
  model: z.string(),
  stop_reason: z.string().nullable().catch(null),
  usage: z
    .object({
      input_tokens: tokens,
      output_tokens: tokens,
      cache_creation_input_tokens: tokens,
      cache_read_input_tokens: tokens,
    })
    .optional()
    .catch(undefined),
});

const turnLimitSchema = z.object({ maxTurns: z.number(), turnCount: z.number() });

const costSchema = z.object({
  totalCostUSD: z.number(),
  totalAPIDuration: z.number().catch(0),
  modelUsage: z.record(z.string(), z.unknown()).catch({}),
});
