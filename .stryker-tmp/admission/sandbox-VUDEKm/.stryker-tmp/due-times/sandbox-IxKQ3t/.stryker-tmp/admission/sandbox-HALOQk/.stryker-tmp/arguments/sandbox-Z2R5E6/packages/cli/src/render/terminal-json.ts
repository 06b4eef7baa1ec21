/** JSON that is safe to print: also escapes control characters that JSON allows in strings. */
export function toTerminalJson(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent);
  return text.replace(/[\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g, escapeCharacter);
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
