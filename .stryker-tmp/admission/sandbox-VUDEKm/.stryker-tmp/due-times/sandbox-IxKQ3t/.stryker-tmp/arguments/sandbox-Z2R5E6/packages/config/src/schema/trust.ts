import { z } from "zod";

/**
 * How a limited agent file may use a field when its agent runs in Docker:
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
  | { class: "stricter"; isNoWeaker: WeaknessCheck; whenUnset: "default" | "free" }
  | { class: "granted"; grant: GrantKind }
  | { class: "fleet"; reason: string };

/** Compares decoded values. `limit` is undefined when neither fleet file nor default sets one. */
export type WeaknessCheck = (limit: unknown, claimed: unknown) => boolean;

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

const trustRules = z.registry<TrustRule>();

export function trustRuleOf(schema: z.core.$ZodType): TrustRule | undefined {
  return trustRules.get(schema);
}

/** An object whose fields all declare a trust class. */
export function block<T extends Record<string, Classified<z.ZodType>>>(shape: T) {
  return z.strictObject(shape);
}

export function free<T extends z.ZodType>(schema: T): Classified<T> {
  return classify(schema, { class: "free" });
}

/** Limited by the fleet file's value, or else by the default of the schema. */
export function stricter<T extends z.ZodType>(schema: T, isNoWeaker: WeaknessCheck): Classified<T> {
  return classify(schema, { class: "stricter", isNoWeaker, whenUnset: "default" });
}

/** Limited by the fleet file's value; free if the fleet file sets none. */
export function stricterThanFleet<T extends z.ZodType>(
  schema: T,
  isNoWeaker: WeaknessCheck,
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
  // A clone, because the same schema serves several fields with different classes.
  const clone = schema.clone();
  trustRules.add(clone, rule);
  // The brand exists for the compiler only.
  return clone as Classified<T>;
}

export const isEqual: WeaknessCheck = (limit, claimed) => isSameJson(limit, claimed);

export const isAtMost: WeaknessCheck = (limit, claimed) =>
  limit === undefined || Number(claimed) <= Number(limit);

export const isAtLeast: WeaknessCheck = (limit, claimed) =>
  limit === undefined || Number(claimed) >= Number(limit);

/** For a field without a schema default: the value that applies if nothing is set. */
export const isAtMostOr =
  (unset: number): WeaknessCheck =>
  (limit, claimed) =>
    Number(claimed) <= Number(limit ?? unset);

/** No item that is not in the limit. */
export const isSubset: WeaknessCheck = (limit, claimed) =>
  asList(claimed).every((item) => asList(limit).some((other) => isSameJson(item, other)));

/** All items of the limit are included. */
export const isSuperset: WeaknessCheck = (limit, claimed) => isSubset(claimed, limit);

export const isEmptyList: WeaknessCheck = (_, claimed) => asList(claimed).length === 0;

/** Once the fleet file sets this value, it stays. */
export const keepsValue =
  (value: unknown): WeaknessCheck =>
  (limit, claimed) =>
    limit !== value || claimed === value;

/** Values from strictest to weakest. The strictest is the limit if nothing is set. */
export const noWeakerInOrder =
  (values: readonly string[]): WeaknessCheck =>
  (limit, claimed) =>
    values.indexOf(String(claimed)) <= Math.max(0, values.indexOf(String(limit)));

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function isSameJson(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
