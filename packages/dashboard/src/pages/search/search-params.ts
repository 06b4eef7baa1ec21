export interface SearchSearch {
  q?: string;
  agent?: string;
}

/** Parses the URL's search parameters and drops unknown values. */
export function parseSearchSearch({ q, agent }: Record<string, unknown>): SearchSearch {
  return { q: nonEmptyText(q), agent: nonEmptyText(agent) };
}

function nonEmptyText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
