import { fenceForPrompt } from "@herdctl/protocol";

/** The values at a dotted path; in a list, of every item. Empty if the path does not exist. */
export function valuesAt(value: unknown, path: string): unknown[] {
  const steps = path.split(".");
  return steps.reduce<unknown[]>(
    (found, step) => found.flatMap((item) => childValues(item, step)),
    [value],
  );
}

/** Without recursion: lists from outside may be nested to any depth. */
function childValues(value: unknown, step: string): unknown[] {
  const found: unknown[] = [];
  const pending = [value];
  while (pending.length > 0) {
    const item = pending.pop();
    if (typeof item !== "object" || item === null) continue;
    if (Object.hasOwn(item, step)) found.push(Reflect.get(item, step));
    else if (Array.isArray(item)) for (const child of item.toReversed()) pending.push(child);
  }
  return found;
}

const maxValueChars = 16_000;

const maxTotalChars = 64_000;

/**
 * Fills the `{{path}}` placeholders of a prompt. Text from outside is fenced by marks that it
 * cannot close, and its length is limited. Placeholders inside such text are never filled, not even
 * by a later pass (`laterRoots`).
 */
export function fillPrompt(
  template: string,
  values: Record<string, unknown>,
  laterRoots: readonly string[] = [],
): string {
  let remainingChars = maxTotalChars;
  let isFenced = false;
  const fence = fenceForPrompt(template);
  const filled = template.replaceAll(placeholder, (match, path: string) => {
    const [root = ""] = path.split(".");
    if (!Object.hasOwn(values, root)) return match;
    const text = textOf(valuesAt(values, path));
    if (typeof text !== "string") return String(text);
    const limit = Math.min(maxValueChars, remainingChars);
    remainingChars -= Math.min(text.length, limit);
    isFenced = true;
    // defence: fenced-outside-text
    return fence.wrap(path, escapePlaceholders(text, laterRoots), limit);
  });
  return isFenced && !filled.startsWith(fence.notice) ? `${fence.notice}\n\n${filled}` : filled;
}

const placeholder = /\{\{\s*([\w-]+(?:\.[\w-]+)*)\s*\}\}/g;

function escapePlaceholders(text: string, roots: readonly string[]): string {
  if (/* defence: no-second-template-pass */ roots.length === 0) return text;
  return text.replaceAll(placeholder, (match, path: string) =>
    roots.includes(path.split(".")[0] ?? "") ? `{ {${path}} }` : match,
  );
}

/** Numbers and booleans carry no instructions. */
function textOf([first, ...others]: unknown[]): string | number | boolean {
  if (others.length > 0) return toJson([first, ...others]);
  if (first === undefined || first === null) return "";
  if (typeof first === "number" || typeof first === "boolean") return first;
  return typeof first === "string" ? first : toJson(first);
}

function toJson(value: unknown): string {
  try {
    return JSON.stringify(value, null, 2);
  } catch {
    return "(nested too deeply to show)";
  }
}
