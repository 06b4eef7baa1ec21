/**
 * Replaces values that differ each time: ids, links, folders, times, amounts, and column widths.
 */
export function normalizeOutput(text: string): string {
  return text
    .replaceAll(/job-\d{4}-\d\d-\d\d-\w+/g, "<job>")
    .replaceAll(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, "<session>")
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+\/login#\S+/g, "<link>")
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d/g, "<clock>")
    .replaceAll(/\d\d:\d\d:\d\d/g, "<clock>")
    .replaceAll(/\b\d+(\.\d+)? (s|ms|min( \d+ s)?)\b/g, "<time>")
    .replaceAll(/\$\d+\.\d+/g, "<cost>")
    .replaceAll(/\bpid \d+/g, "<pid>")
    .replaceAll(/ {2,}/g, "  ");
}

/** A quoted line may end early with `…`. */
export function isQuotedFrom(quoted: string, whole: string): boolean {
  return quoted.endsWith("…") ? whole.startsWith(quoted.slice(0, -1)) : whole === quoted;
}
