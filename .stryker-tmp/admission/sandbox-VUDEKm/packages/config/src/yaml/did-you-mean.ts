import { closest, distance } from "fastest-levenshtein";

/** The known word that was probably meant, if one is similar enough. */
export function didYouMean(word: string, known: readonly string[]): string | undefined {
  if (known.length === 0) return undefined;
  const lower = word.toLowerCase();
  const nearest = closest(lower, known);
  const limit = Math.max(2, Math.floor(nearest.length / 3));
  return distance(lower, nearest.toLowerCase()) <= limit ? nearest : undefined;
}

/** A hint for an unknown word: the most similar known word, or the list of all. */
export function suggestionHint(word: string, known: readonly string[]): string {
  const suggestion = didYouMean(word, known);
  if (suggestion !== undefined) return `Did you mean \`${suggestion}\`?`;
  if (known.length === 0) return "Remove it.";
  return `Use one of ${[...known].sort().join(", ")}.`;
}
