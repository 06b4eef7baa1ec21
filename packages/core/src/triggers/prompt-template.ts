import { fenceOf } from "../runner/fence.ts";
import { valuesAt } from "./values-at.ts";

const longestValue = 16_000;
const longestInAll = 64_000;

/**
 * Puts values into the `{{path}}` places of a prompt. A text from outside stands between marks that
 * it cannot close itself, and no longer than it may be; what it says is never filled in again, not
 * even by whoever fills the places whose values come later.
 */
export function fillPrompt(
  template: string,
  values: Record<string, unknown>,
  later: readonly string[] = [],
): string {
  let room = longestInAll;
  let isFenced = false;
  const fence = fenceOf(template);
  const filled = template.replaceAll(place, (whole, path: string) => {
    const [root = ""] = path.split(".");
    if (!Object.hasOwn(values, root)) return whole;
    const text = textOf(valuesAt(values, path));
    if (typeof text !== "string") return String(text);
    const limit = Math.min(longestValue, room);
    room -= Math.min(text.length, limit);
    isFenced = true;
    return fence.wrap(path, withoutPlaces(text, later), limit);
  });
  return isFenced && !filled.startsWith(fence.notice) ? `${fence.notice}\n\n${filled}` : filled;
}

const place = /\{\{\s*([\w-]+(?:\.[\w-]+)*)\s*\}\}/g;

function withoutPlaces(text: string, roots: readonly string[]): string {
  if (roots.length === 0) return text;
  return text.replaceAll(place, (whole, path: string) =>
    roots.includes(path.split(".")[0] ?? "") ? `{ {${path}} }` : whole,
  );
}

/** A number or a switch carries no instruction. */
function textOf([first, ...others]: unknown[]): string | number | boolean {
  if (others.length > 0) return jsonOf([first, ...others]);
  if (first === undefined || first === null) return "";
  if (typeof first === "number" || typeof first === "boolean") return first;
  return typeof first === "string" ? first : jsonOf(first);
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value, null, 2);
  } catch {
    return "(nested too deep to be shown)";
  }
}
