import type { JobSearchHit } from "@herdctl/protocol";

/** The texts of a job that a search looks at. */
export type JobTexts = Record<JobSearchHit["field"], string>;

/** Longer texts are searched only as far as this. */
export const maxSearchedChars = 64_000;

/**
 * The words of a query. The words of one term, such as `max_turns`, must follow each other; the
 * last one may be the start of a longer word, unless it is too short.
 */
export function toSearchTerms(text: string): string[][] {
  return text
    .split(/\s+/)
    .map((term) => term.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])
    .filter((words) => words.length > 0);
}

/** A query of SQLite's FTS5. */
export function toFts5Query(terms: readonly string[][]): string {
  return terms.map((words) => `"${words.join(" ")}"${isPrefix(words.at(-1)) ? "*" : ""}`).join(" ");
}

/** One or two letters begin so many words that the index would be read for seconds. */
function isPrefix(word = ""): boolean {
  return !/^[a-z0-9]{1,2}$/.test(word);
}

/** A query of PostgreSQL's `to_tsquery`. */
export function toTsQuery(terms: readonly string[][]): string {
  return terms
    .map((words) => words.map((word, index) => toLexeme(word, index === words.length - 1)))
    .map((lexemes) => `(${lexemes.join(" <-> ")})`)
    .join(" & ");
}

function toLexeme(word: string, isLast: boolean): string {
  return `'${word}'${isLast && isPrefix(word) ? ":*" : ""}`;
}

const excerptChars = 160;
const fields = ["summary", "prompt", "output"] as const;

/** The first of the texts that contains a term, as one line around it. */
export function findExcerpt(
  texts: JobTexts,
  terms: readonly string[][],
): Pick<JobSearchHit, "field" | "excerpt"> {
  const patterns = terms.map(
    (words) => new RegExp(`(?<![\\p{L}\\p{N}])${words.join("[^\\p{L}\\p{N}]+")}`, "iu"),
  );
  for (const pattern of patterns)
    for (const field of fields) {
      const at = texts[field].search(pattern);
      if (at !== -1) return { field, excerpt: excerptAt(texts[field], at) };
    }
  return { field: "prompt", excerpt: excerptAt(texts.prompt, 0) };
}

function excerptAt(text: string, at: number): string {
  const start = Math.max(0, at - excerptChars / 4);
  const end = Math.min(text.length, start + excerptChars);
  const part = text.slice(start, end).replaceAll(/\s+/g, " ").trim();
  return `${start > 0 ? "…" : ""}${part}${end < text.length ? "…" : ""}`;
}
