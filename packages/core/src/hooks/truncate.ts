/** Cuts a text to a maximum length; an ellipsis marks a cut. */
export function truncate(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  // Does not split a surrogate pair.
  return `${text.slice(0, maxLength - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
