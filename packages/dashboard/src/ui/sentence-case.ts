/** `finished_with_denials` becomes `Finished with denials`. */
export function sentenceCase(code: string): string {
  return capitalize(code.replaceAll("_", " "));
}

export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
