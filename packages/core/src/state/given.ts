import { z } from "zod";

/** A key whose value is undefined is as good as left out; spread over a record it must not erase. */
export function given<S extends z.ZodType>(schema: S) {
  return z.preprocess(withoutUndefined, schema);
}

function withoutUndefined(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== undefined));
}
