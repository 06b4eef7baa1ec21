import { z } from "zod";

/** Removes keys whose value is undefined, so that spreading the result does not erase fields. */
export function omitUndefined<S extends z.ZodType>(schema: S) {
  return z.preprocess(removeUndefined, schema);
}

function removeUndefined(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== undefined));
}
