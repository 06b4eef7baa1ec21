import { visible } from "@herdctl/core/light";

/**
 * Text of an agent, a tool or a repository, made fit for a terminal: nothing in it can move the
 * cursor, change colours or the clipboard, or turn the reading direction. Colours are dropped;
 * every other control character is shown as an escape. What a person judges by goes through
 * `visible`, which drops nothing and shows more.
 */
export function harmless(text: string): string {
  const lines = text.replace(colour, "").replace(lineEnd, "\n").replaceAll("\t", "    ");
  return lines.replace(unfit, visible);
}

/** Every text in a value, however deep; keys too. */
export function harmlessAll<T>(value: T): T;
export function harmlessAll(value: unknown): unknown {
  if (typeof value === "string") return harmless(value);
  if (Array.isArray(value)) return value.map((one) => harmlessAll(one));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, one]) => [harmless(key), harmlessAll(one)]);
  return Object.fromEntries(entries);
}

const colour = /\x1b\[[\d;:]*m/g;
const lineEnd = /\r\n|[\r\u2028\u2029]/g;
/** Control characters of both sets, marks that turn the reading direction, and unseen letters. */
const unfit =
  /[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]|[\u{e0000}-\u{e007f}]/gu;
