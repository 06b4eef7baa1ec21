/** Text of an agent that a person decides by, for chats, the terminal and the dashboard. */

/**
 * Makes hidden characters visible: control characters, characters that change the reading direction,
 * unusual spaces and zero-width characters become escapes such as `\u202e`. Nothing is removed.
 */
export function escapeInvisible(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replaceAll("\t", "    ")
    .replace(
      hiddenOrEmojiPattern,
      (found, emoji?: string) => emoji ?? /* defence: visible-characters */ escapeCharacter(found),
    );
}

/** An emoji can consist of several, joined by characters that are otherwise invisible. */
const emoji =
  /\p{Extended_Pictographic}[\u{fe0f}\u{1f3fb}-\u{1f3ff}]?(?:\u200d\p{Extended_Pictographic}[\u{fe0f}\u{1f3fb}-\u{1f3ff}]?)*/u;

/** Includes lone surrogates and the blank Braille pattern. */
const hiddenPattern =
  /(?![\n ])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Zs}\p{Default_Ignorable_Code_Point}\u2800]/u;

const hiddenOrEmojiPattern = new RegExp(`(${emoji.source})|${hiddenPattern.source}`, "gu");

function escapeCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, "0")}`;
  return code < 0x10000 ? `\\u${code.toString(16)}` : `\\u{${code.toString(16)}}`;
}

/** Like `escapeInvisible`, on one line. */
export function escapeInvisibleInline(text: string): string {
  return escapeInvisible(text).replaceAll("\n", "\\x0a");
}

export type InputField = [name: string, text: string];

/** Every field of a tool input in its original order, with hidden characters escaped. */
export function formatInputFields(input: unknown): InputField[] {
  if (typeof input !== "object" || input === null) return [["input", fieldText(input)]];
  return /* defence: every-input-field */ Object.entries(input).map(([name, value]) => [
    escapeInvisibleInline(name),
    fieldText(value),
  ]);
}

function fieldText(value: unknown): string {
  if (typeof value === "string") return escapeInvisible(value);
  return escapeInvisible(JSON.stringify(value, null, 2) ?? "");
}

/** All fields as text. Multi-line values are indented, so that no value can look like a field. */
export function formatInput(input: unknown): string {
  const lines = formatInputFields(input).map(([name, text]) =>
    text.includes("\n")
      ? `${name}:\n${/* defence: indented-values */ text.replace(/^/gm, "  ")}`
      : `${name}: ${text}`,
  );
  return lines.join("\n");
}

/** The labels of choices by displayed numbers such as `2` or `1, 3`; undefined for an unknown number. */
export function parseChoiceNumbers(
  choices: readonly { label: string }[],
  input: string,
): string[] | undefined {
  const numbers = input.split(",").map((one) => one.trim());
  const labels = numbers.flatMap((one) =>
    /^\d+$/.test(one) ? (choices[Number(one) - 1]?.label ?? []) : [],
  );
  return labels.length === numbers.length ? labels : undefined;
}
