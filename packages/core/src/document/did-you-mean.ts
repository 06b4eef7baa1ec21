import { closest, distance } from "fastest-levenshtein";

/** The known word that was probably meant, if one is near enough to be worth suggesting. */
export function didYouMean(word: string, known: readonly string[]): string | undefined {
  if (known.length === 0) return undefined;
  const lower = word.toLowerCase();
  const nearest = closest(lower, known);
  const limit = Math.max(2, Math.floor(nearest.length / 3));
  return distance(lower, nearest.toLowerCase()) <= limit ? nearest : undefined;
}

/** A hint for an unknown word: the likely one, else all there are. */
export function suggest(word: string, known: readonly string[]): string {
  const meant = didYouMean(word, known);
  if (meant !== undefined) return `Did you mean \`${meant}\`?`;
  if (known.length === 0) return "Remove it.";
  return `Known here: ${[...known].sort().join(", ")}.`;
}
