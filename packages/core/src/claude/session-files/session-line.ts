import { z } from "zod";

/**
 * A line of a session file. The format is internal to Claude Code and changes with its versions, so
 * the schema only lists the fields that herdctl uses and keeps all others.
 */
export type SessionLine = z.infer<typeof sessionLineSchema>;

export type SkipReason = "broken" | "nul" | "too_long" | "foreign";

type ParsedLine =
  | { kind: "line"; line: SessionLine }
  | { kind: "skipped"; reason: SkipReason }
  | { kind: "blank" };

/** Real files contain truncated, merged and NUL lines after crashes or concurrent writers. */
export function parseLine(raw: Buffer): ParsedLine {
  if (raw.includes(0)) return { kind: "skipped", reason: "nul" };
  const text = raw.toString("utf8").trim();
  if (text === "") return { kind: "blank" };
  const value = parseJson(text);
  if (value === undefined) return { kind: "skipped", reason: "broken" };
  const parsed = sessionLineSchema.safeParse(value);
  if (!parsed.success) return { kind: "skipped", reason: "foreign" };
  return { kind: "line", line: parsed.data };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const optionalText = z.string().optional().catch(undefined);
const optionalFlag = z.boolean().optional().catch(undefined);

const contentBlockSchema = z.looseObject({ type: z.string() });

type ContentBlock = z.infer<typeof contentBlockSchema>;

const chatMessageSchema = z.looseObject({
  role: z.string(),
  content: z.union([z.string(), z.array(contentBlockSchema)]),
});

export type ChatMessage = z.infer<typeof chatMessageSchema>;

const sessionLineSchema = z.looseObject({
  type: z.string(),
  subtype: optionalText,
  uuid: optionalText,
  sessionId: optionalText,
  timestamp: optionalText,
  cwd: optionalText,
  version: optionalText,
  permissionMode: optionalText,
  isSidechain: optionalFlag,
  isMeta: optionalFlag,
  isCompactSummary: optionalFlag,
  isApiErrorMessage: optionalFlag,
  agentId: optionalText,
  message: chatMessageSchema.optional().catch(undefined),
  attachment: z.looseObject({ type: z.string() }).optional().catch(undefined),
});

export function blocksOf(message: ChatMessage | undefined, type: string): ContentBlock[] {
  if (message === undefined || typeof message.content === "string") return [];
  return message.content.filter((block) => block.type === type);
}

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

/** The role of a line in the conversation, independent of its type. */
export type LineRole =
  | "assistant"
  | "prompt"
  | "tool_result"
  | "interruption"
  | "command_output"
  | "compact_boundary"
  | "compact_summary"
  | "cost"
  | "max_turns"
  | "aside"
  | "bookkeeping"
  | "unknown";

/** The model name of messages that Claude Code writes itself. */
export const syntheticModel = "<synthetic>";

export function roleOf(line: SessionLine): LineRole {
  const decide = roleByType[line.type];
  if (decide === undefined) return bookkeepingTypes.has(line.type) ? "bookkeeping" : "unknown";
  return decide(line);
}

/** Types in real files or in the binaries that do not contribute to a message. */
const bookkeepingTypes: ReadonlySet<string> = new Set([
  "agent-color",
  "agent-name",
  "agent-setting",
  "ai-title",
  "api-request",
  "api-request-blob",
  "api-request-shape",
  "atis-latch",
  "bridge-session",
  "content-replacement",
  "custom-title",
  "file-history-snapshot",
  "frame-link",
  "isolation-latch",
  "last-prompt",
  "mode",
  "permission-mode",
  "pr-link",
  "progress",
  "queue-operation",
  "relocated",
  "repl-mode",
  "summary",
  "tag",
  "tools-used",
  "worktree-state",
]);

const roleByType: Partial<Record<string, (line: SessionLine) => LineRole>> = {
  assistant: roleOfAssistant,
  user: roleOfUser,
  system: (line) => systemRoles[line.subtype ?? ""] ?? "aside",
  attachment: (line) => (line.attachment?.type === "max_turns_reached" ? "max_turns" : "aside"),
  "cost-state": () => "cost",
};

const systemRoles: Partial<Record<string, LineRole>> = {
  compact_boundary: "compact_boundary",
  local_command: "command_output",
};

/** When it resumes, 2.1.197 writes a synthetic answer such as "No response requested.". */
function roleOfAssistant(line: SessionLine): LineRole {
  const isSynthetic = line.message?.model === syntheticModel && line.isApiErrorMessage !== true;
  return line.message === undefined || isSynthetic ? "aside" : "assistant";
}

function roleOfUser(line: SessionLine): LineRole {
  const content = line.message?.content;
  if (content === undefined) return "aside";
  if (typeof content !== "string" && content.some((block) => block.type === "tool_result")) {
    return "tool_result";
  }
  if (line.isCompactSummary) return "compact_summary";
  if (line.isMeta) return "aside";
  const text = typeof content === "string" ? content : String(content[0]?.text ?? "");
  if (text.startsWith("[Request interrupted by user")) return "interruption";
  if (/^<local-command-std(out|err)>/.test(text)) return "command_output";
  return "prompt";
}
