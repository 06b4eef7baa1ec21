import { z } from "zod";
import type { ChatMessage, ContentBlock, SessionLine } from "./line.ts";

export function blocksOf(message: ChatMessage | undefined, type: string): ContentBlock[] {
  if (message === undefined || typeof message.content === "string") return [];
  return message.content.filter((block) => block.type === type);
}

/** What the model's own part of a line says beside its words. */
export function readAnswer(line: SessionLine) {
  return answerShape.safeParse(line.message).data;
}

export function readApiErrorStatus(line: SessionLine): number | undefined {
  return typeof line.apiErrorStatus === "number" ? line.apiErrorStatus : undefined;
}

export interface TurnLimit {
  allowed: number;
  made: number;
}

export function readTurnLimit(line: SessionLine): TurnLimit | undefined {
  const limit = turnLimitShape.safeParse(line.attachment).data;
  return limit && { allowed: limit.maxTurns, made: limit.turnCount };
}

/** Cumulative over the life of the session, also over resume and fork. */
export interface SessionCost {
  totalCostUsd: number;
  apiDurationMs: number;
  modelUsage: Record<string, unknown>;
}

export function readCost(line: SessionLine): SessionCost | undefined {
  const cost = costShape.safeParse(line).data;
  return (
    cost && {
      totalCostUsd: cost.totalCostUSD,
      apiDurationMs: cost.totalAPIDuration,
      modelUsage: cost.modelUsage,
    }
  );
}

const tokens = z.number().catch(0);

const answerShape = z.object({
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

const turnLimitShape = z.object({ maxTurns: z.number(), turnCount: z.number() });

const costShape = z.object({
  totalCostUSD: z.number(),
  totalAPIDuration: z.number().catch(0),
  modelUsage: z.record(z.string(), z.unknown()).catch({}),
});
