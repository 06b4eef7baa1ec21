/** How an agent's words are shown to a person who judges by them: in chats, terminal and dashboard. */

/**
 * The text with everything visible that a screen would hide: control characters, characters that
 * change the reading direction, unusual spaces and everything that has no width are written as
 * escapes such as `\u202e`. Nothing is left out.
 */
export function visible(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replaceAll("\t", "    ")
    .replace(hiddenOrEmoji, (found, emoji?: string) => emoji ?? escaped(found));
}

/** An emoji may be made of several, joined by characters that are invisible elsewhere. */
const emoji =
  /\p{Extended_Pictographic}[\u{fe0f}\u{1f3fb}-\u{1f3ff}]?(?:\u200d\p{Extended_Pictographic}[\u{fe0f}\u{1f3fb}-\u{1f3ff}]?)*/u;

/** Lone halves of a pair and the blank of Braille are invisible too. */
const hidden =
  /(?![\n ])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Zs}\p{Default_Ignorable_Code_Point}\u2800]/u;

const hiddenOrEmoji = new RegExp(`(${emoji.source})|${hidden.source}`, "gu");

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, "0")}`;
  return code < 0x10000 ? `\\u${code.toString(16)}` : `\\u{${code.toString(16)}}`;
}

/** On one line, as a name is shown. */
export function visibleName(text: string): string {
  return visible(text).replaceAll("\n", "\\x0a");
}

export type InputField = [name: string, text: string];

/** Every field of a tool's input, in its order, fit to be shown. */
export function inputFields(input: unknown): InputField[] {
  if (typeof input !== "object" || input === null) return [["input", fieldText(input)]];
  return Object.entries(input).map(([name, value]) => [visibleName(name), fieldText(value)]);
}

function fieldText(value: unknown): string {
  if (typeof value === "string") return visible(value);
  return visible(JSON.stringify(value, null, 2) ?? "");
}

/** All fields as text. Further lines are indented: no value can pass for another field. */
export function inputText(input: unknown): string {
  const lines = inputFields(input).map(([name, text]) =>
    text.includes("\n") ? `${name}:\n${text.replace(/^/gm, "  ")}` : `${name}: ${text}`,
  );
  return lines.join("\n");
}
