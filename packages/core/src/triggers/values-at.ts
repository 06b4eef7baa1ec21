/** What stands at a dotted path: in a list, of every item. Nothing when the path leads nowhere. */
export function valuesAt(value: unknown, path: string): unknown[] {
  const steps = path.split(".");
  return steps.reduce<unknown[]>((found, step) => found.flatMap((one) => into(one, step)), [value]);
}

function into(value: unknown, step: string): unknown[] {
  if (typeof value !== "object" || value === null) return [];
  if (Object.hasOwn(value, step)) return [Reflect.get(value, step)];
  return Array.isArray(value) ? value.flatMap((item) => into(item, step)) : [];
}
