/**
 * Text of an agent, a tool or a repository, made fit for a terminal: nothing in it can move the
 * cursor, change colours or the clipboard, or turn the reading direction. Colours are dropped;
 * every other control character is shown as an escape.
 */
export function harmless(text: string): string {
  return visible(text.replace(colour, ""));
}

/** As `harmless`, but drops nothing: for what a person is to judge by. */
export function visible(text: string): string {
  return text.replace(lineEnd, "\n").replaceAll("\t", "    ").replace(unfit, escaped);
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

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, "0")}`;
  return code < 0x10000 ? `\\u${code.toString(16)}` : `\\u{${code.toString(16)}}`;
}
