/**
 * Whether a list such as `[reviewer, docs-*]` matches an agent name. `*` matches any part of a
 * name.
 */
export function matchesAnyPattern(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => matchesPattern(pattern, name));
}

/** Whether a text matches a pattern. `*` matches any text. */
export function matchesPattern(pattern: string, text: string): boolean {
  const parts = pattern.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join("[\\s\\S]*")}$`).test(text);
}
