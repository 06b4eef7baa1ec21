import { z } from "zod";

/**
 * A line of a session file. The format is internal to Claude Code and changes with its versions, so
 * the schema only lists the fields that herdctl uses and keeps all others.
 */
export type SessionLine = z.infer<typeof sessionLineSchema>;

export type SkipReason = "broken" | "nul" | "too_long" | "foreign";

export type ParsedLine =
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

export type ContentBlock = z.infer<typeof contentBlockSchema>;

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
