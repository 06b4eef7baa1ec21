import { type core, z } from "zod";
import { childOf, type Tree } from "./tree.ts";

/** The keys that an object schema accepts at a path, for suggestions. */
export function listKnownKeys(
  schema: z.ZodType,
  tree: Tree,
  path: readonly PropertyKey[],
): string[] {
  const keys = schemasAt(schema, tree, path).flatMap((found) => {
    const def = schemaDefinition(found);
    return def.type === "object" ? Object.keys(def.shape) : [];
  });
  return [...new Set(keys)];
}

/** The schema's description of a field, for hints. */
export function descriptionAt(
  schema: z.ZodType,
  tree: Tree,
  path: readonly PropertyKey[],
): string | undefined {
  const parents = schemasAt(schema, tree, path.slice(0, -1));
  const fields = parents.flatMap((parent) => childSchemas(parent, path.at(-1) ?? ""));
  return fields.map(descriptionOf).find((text) => text !== undefined);
}

/** The schemas below a key or index of a value, one for each form the value may have. */
export function schemasBelow(schema: core.$ZodType, tree: Tree, part: PropertyKey) {
  return unwrapSchema(schema, tree).flatMap((option) => {
    // An entry of a list, or of a block with free keys, is not a field.
    const isField = schemaDefinition(option).type === "object";
    return childSchemas(option, part).map((below) => ({ schema: below, isField }));
  });
}

function schemasAt(schema: core.$ZodType, tree: Tree, path: readonly PropertyKey[]) {
  let found = unwrapSchema(schema, tree);
  let subtree: Tree | undefined = tree;
  for (const part of path) {
    subtree = childOf(subtree, part);
    found = found
      .flatMap((parent) => childSchemas(parent, part))
      .flatMap((next) => unwrapSchema(next, subtree));
  }
  return found;
}

function childSchemas(schema: core.$ZodType, part: PropertyKey): core.$ZodType[] {
  const def = schemaDefinition(schema);
  const next =
    def.type === "object"
      ? ownField(def.shape, String(part))
      : def.type === "record"
        ? def.valueType
        : def.type === "array"
          ? def.element
          : undefined;
  return next ? [next] : [];
}

/** Not `constructor` and other names that every object has. */
function ownField(shape: Readonly<Record<string, core.$ZodType>>, name: string) {
  return Object.hasOwn(shape, name) ? shape[name] : undefined;
}

/** Unwraps optional, default, pipe and union to the schemas that describe the value. */
function unwrapSchema(schema: core.$ZodType, tree: Tree | undefined): core.$ZodType[] {
  const def = schemaDefinition(schema);
  if ("innerType" in def) return unwrapSchema(def.innerType as core.$ZodType, tree);
  if (def.type === "pipe") return unwrapSchema(def.in, tree);
  if (def.type !== "union") return [schema];
  const options = def.options.flatMap((option) => unwrapSchema(option, tree));
  const chosen = "discriminator" in def ? childOf(tree, String(def.discriminator)) : undefined;
  if (chosen?.kind !== "scalar") return options;
  return options.filter((option) => {
    const literal = childSchemas(
      option,
      String("discriminator" in def ? def.discriminator : ""),
    ).map(schemaDefinition)[0];
    return literal?.type === "literal" && literal.values.includes(chosen.value);
  });
}

function descriptionOf(schema: core.$ZodType): string | undefined {
  const own = z.globalRegistry.get(schema)?.description;
  if (own !== undefined) return own;
  const def = schemaDefinition(schema);
  return "innerType" in def ? descriptionOf(def.innerType as core.$ZodType) : undefined;
}

// zod's public types stop at the base class; this is the documented way to the concrete one.
function schemaDefinition(schema: core.$ZodType) {
  return (schema as core.$ZodTypes)._zod.def;
}
