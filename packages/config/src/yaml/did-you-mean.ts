import { closest, distance } from "fastest-levenshtein";

/** The known word that was probably meant, if one is similar enough. */
export function didYouMean(word: string, known: readonly string[]): string | undefined {
  if (known.length === 0) return undefined;
  const lower = word.toLowerCase();
  const found = closest(
    lower,
    known.map((one) => one.toLowerCase()),
  );
  const nearest = known.find((one) => one.toLowerCase() === found) ?? found;
  const isShort = nearest.length <= 4 && !hasSameLetters(lower, found);
  const limit = isShort ? 1 : Math.max(2, Math.floor(nearest.length / 3));
  if (distance(lower, found) > limit) return undefined;
  return invertsMeaning(lower, nearest.toLowerCase()) ? undefined : nearest;
}

/** Two swapped letters, as in `corn`. */
function hasSameLetters(a: string, b: string): boolean {
  return [...a].sort().join("") === [...b].sort().join("");
}

const negations = /^(dis|un|non|no_|not_|deny_?|denied_?|block_?|forbid_?|exclude_?)/;

/** `disallowed_tools` must not become `allowed_tools`: one forbids what the other permits. */
function invertsMeaning(word: string, suggestion: string): boolean {
  const [isNegated, isSuggestionNegated] = [negations.test(word), negations.test(suggestion)];
  if (isNegated === isSuggestionNegated) return false;
  const [negated, plain] = isNegated ? [word, suggestion] : [suggestion, word];
  return distance(negated.replace(negations, ""), plain) <= 2;
}

export function didYouMeanHint(word: string, known: readonly string[]): string | undefined {
  const suggestion = didYouMean(word, known);
  return suggestion === undefined ? undefined : `Did you mean \`${suggestion}\`?`;
}

/** A hint for an unknown word: the most similar known word, or the list of all. */
export function suggestionHint(word: string, known: readonly string[]): string {
  const hint = didYouMeanHint(word, known);
  if (hint !== undefined) return hint;
  if (known.length === 0) return "Remove it.";
  return `Use one of ${[...known].sort().join(", ")}.`;
}
