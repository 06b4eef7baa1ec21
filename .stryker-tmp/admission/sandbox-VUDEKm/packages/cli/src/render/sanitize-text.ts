import { escapeInvisible } from "@herdctl/protocol";

/**
 * Makes text of an agent, a tool or a repository safe for a terminal: it cannot move the cursor,
 * change colours or the clipboard, or reverse the reading direction. Colour sequences are removed;
 * other control characters are shown as escapes. Text that a person decides by is passed through
 * `escapeInvisible` instead, which removes nothing and escapes more.
 */
export function sanitizeText(text: string): string {
  const lines = text.replace(colorSequences, "").replace(lineEnds, "\n").replaceAll("\t", "    ");
  return lines.replace(
    unsafeCharacters,
    /* defence: terminal-control-characters */ escapeInvisible,
  );
}

/** Sanitizes every string in a value, including keys, at any depth. */
export function sanitizeDeep<T>(value: T): T;
export function sanitizeDeep(value: unknown): unknown {
  if (typeof value === "string") return sanitizeText(value);
  if (Array.isArray(value)) return value.map((one) => sanitizeDeep(one));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, one]) => [sanitizeText(key), sanitizeDeep(one)]);
  return Object.fromEntries(entries);
}

const colorSequences = /\x1b\[[\d;:]*m/g;
const lineEnds = /\r\n|[\r\u2028\u2029]/g;
/** C0 and C1 control characters, bidirectional controls, zero-width characters and tags. */
const unsafeCharacters =
  /[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]|[\u{e0000}-\u{e007f}]/gu;
