import { z } from "zod";

/**
 * What a limited agent file may do with a field when its agent runs in Docker:
 *
 * - `free`: set it to anything.
 * - `stricter`: set it to a value no weaker than the fleet file's, or than the default.
 * - `granted`: use only what the entry of the fleet file grants, such as a folder.
 * - `fleet`: nothing; only the fleet file sets it.
 *
 * A field without a class counts as `fleet`, and `trust-classes.test.ts` fails.
 */

export type TrustRule =
  | { class: "free" }
  | { class: "stricter"; isNoWeaker: Comparison; whenUnset: "default" | "free" }
  | { class: "granted"; grant: GrantKind }
  | { class: "fleet"; reason: string };

/** Compares decoded values. `limit` is undefined when neither fleet file nor default sets one. */
export type Comparison = (limit: unknown, claimed: unknown) => boolean;

export type GrantKind =
  | "folder"
  | "schema_file"
  | "variable"
  | "container_server"
  | "tool_rules"
  | "agents";

declare const classified: unique symbol;
/** A field whose trust class was declared. Only the functions below make one. */
export type Classified<T extends z.ZodType> = T & { readonly [classified]: true };

const rules = z.registry<TrustRule>();

export function trustRuleOf(schema: z.core.$ZodType): TrustRule | undefined {
  return rules.get(schema);
}

/** An object whose fields all declare a trust class. */
export function block<T extends Record<string, Classified<z.ZodType>>>(shape: T) {
  return z.strictObject(shape);
}

export function free<T extends z.ZodType>(schema: T): Classified<T> {
  return classify(schema, { class: "free" });
}

/** Held to what the fleet file says, else to the default of the schema. */
export function stricter<T extends z.ZodType>(schema: T, isNoWeaker: Comparison): Classified<T> {
  return classify(schema, { class: "stricter", isNoWeaker, whenUnset: "default" });
}

/** Held to what the fleet file says; free when the fleet file does not set it. */
export function stricterThanFleet<T extends z.ZodType>(
  schema: T,
  isNoWeaker: Comparison,
): Classified<T> {
  return classify(schema, { class: "stricter", isNoWeaker, whenUnset: "free" });
}

export function granted<T extends z.ZodType>(schema: T, grant: GrantKind): Classified<T> {
  return classify(schema, { class: "granted", grant });
}

/** `reason` completes the sentence "only the fleet file can set this, because …". */
export function fleetOnly<T extends z.ZodType>(schema: T, reason: string): Classified<T> {
  return classify(schema, { class: "fleet", reason });
}

function classify<T extends z.ZodType>(schema: T, rule: TrustRule): Classified<T> {
  // A clone: the same schema serves several fields, which may differ in their class.
  const own = schema.clone();
  rules.add(own, rule);
  // The edge: the brand exists for the compiler only.
  return own as Classified<T>;
}

export const equal: Comparison = (limit, claimed) => same(limit, claimed);

export const atMost: Comparison = (limit, claimed) =>
  limit === undefined || Number(claimed) <= Number(limit);

export const atLeast: Comparison = (limit, claimed) =>
  limit === undefined || Number(claimed) >= Number(limit);

/** For a field without a default in the schema: the value that counts when nothing is set. */
export const atMostOr =
  (unset: number): Comparison =>
  (limit, claimed) =>
    Number(claimed) <= Number(limit ?? unset);

/** No item beyond those of the limit. */
export const subset: Comparison = (limit, claimed) =>
  items(claimed).every((one) => items(limit).some((other) => same(one, other)));

/** Every item of the limit is still there. */
export const superset: Comparison = (limit, claimed) => subset(claimed, limit);

export const empty: Comparison = (_, claimed) => items(claimed).length === 0;

/** Once set to this value, it stays. */
export const keeps =
  (value: unknown): Comparison =>
  (limit, claimed) =>
    limit !== value || claimed === value;

/** From the strictest value to the weakest; the strictest is the limit when nothing is set. */
export const inOrder =
  (values: readonly string[]): Comparison =>
  (limit, claimed) =>
    values.indexOf(String(claimed)) <= Math.max(0, values.indexOf(String(limit)));

function items(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
