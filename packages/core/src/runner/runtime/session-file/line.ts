import { z } from "zod";

/**
 * One line of a session file. The format is internal to Claude Code and grows with each version,
 * so only what we use is named; all else is kept as it came.
 */
export type SessionLine = z.infer<typeof sessionLine>;

export type SkipReason = "broken" | "nul" | "too_long" | "foreign";

export type ParsedLine =
  | { kind: "line"; line: SessionLine }
  | { kind: "skipped"; reason: SkipReason }
  | { kind: "blank" };

/** A crashed or doubled writer leaves torn, spliced and NUL lines anywhere in real files. */
export function parseLine(raw: Buffer): ParsedLine {
  if (raw.includes(0)) return { kind: "skipped", reason: "nul" };
  const text = raw.toString("utf8").trim();
  if (text === "") return { kind: "blank" };
  const value = parseJson(text);
  if (value === undefined) return { kind: "skipped", reason: "broken" };
  const parsed = sessionLine.safeParse(value);
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

const contentBlock = z.looseObject({ type: z.string() });

export type ContentBlock = z.infer<typeof contentBlock>;

const chatMessage = z.looseObject({
  role: z.string(),
  content: z.union([z.string(), z.array(contentBlock)]),
});

export type ChatMessage = z.infer<typeof chatMessage>;

const sessionLine = z.looseObject({
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
  message: chatMessage.optional().catch(undefined),
  attachment: z.looseObject({ type: z.string() }).optional().catch(undefined),
});
