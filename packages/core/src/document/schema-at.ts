import { type core, z } from "zod";
import { child, type Tree } from "./tree.ts";

/** The keys that an object schema knows at a path, for "did you mean". */
export function knownKeys(schema: z.ZodType, tree: Tree, path: readonly PropertyKey[]): string[] {
  const keys = schemasAt(schema, tree, path).flatMap((found) => {
    const def = definition(found);
    return def.type === "object" ? Object.keys(def.shape) : [];
  });
  return [...new Set(keys)];
}

/** What the schema says a field is for, as a hint to whoever filled it wrongly. */
export function descriptionAt(
  schema: z.ZodType,
  tree: Tree,
  path: readonly PropertyKey[],
): string | undefined {
  const parents = schemasAt(schema, tree, path.slice(0, -1));
  const fields = parents.flatMap((parent) => step(parent, path.at(-1) ?? ""));
  return fields.map(describedAs).find((text) => text !== undefined);
}

/** The schemas below a key or index of a value, one for each form the value may have. */
export function schemasBelow(schema: core.$ZodType, tree: Tree, part: PropertyKey) {
  return unwrap(schema, tree).flatMap((one) => {
    // Otherwise an entry of a list, or of a block whose keys are free.
    const isField = definition(one).type === "object";
    return step(one, part).map((below) => ({ schema: below, isField }));
  });
}

function schemasAt(schema: core.$ZodType, tree: Tree, path: readonly PropertyKey[]) {
  let found = unwrap(schema, tree);
  let here: Tree | undefined = tree;
  for (const part of path) {
    here = child(here, part);
    found = found.flatMap((one) => step(one, part)).flatMap((next) => unwrap(next, here));
  }
  return found;
}

function step(schema: core.$ZodType, part: PropertyKey): core.$ZodType[] {
  const def = definition(schema);
  const next =
    def.type === "object"
      ? def.shape[String(part)]
      : def.type === "record"
        ? def.valueType
        : def.type === "array"
          ? def.element
          : undefined;
  return next ? [next] : [];
}

/** Through optional, default, pipe and union to the schemas that say what may stand there. */
function unwrap(schema: core.$ZodType, tree: Tree | undefined): core.$ZodType[] {
  const def = definition(schema);
  if ("innerType" in def) return unwrap(def.innerType as core.$ZodType, tree);
  if (def.type === "pipe") return unwrap(def.in, tree);
  if (def.type !== "union") return [schema];
  const options = def.options.flatMap((option) => unwrap(option, tree));
  const chosen = "discriminator" in def ? child(tree, String(def.discriminator)) : undefined;
  if (chosen?.kind !== "scalar") return options;
  return options.filter((option) => {
    const literal = step(option, String("discriminator" in def ? def.discriminator : "")).map(
      definition,
    )[0];
    return literal?.type === "literal" && literal.values.includes(chosen.value);
  });
}

function describedAs(schema: core.$ZodType): string | undefined {
  const own = z.globalRegistry.get(schema)?.description;
  if (own !== undefined) return own;
  const def = definition(schema);
  return "innerType" in def ? describedAs(def.innerType as core.$ZodType) : undefined;
}

// zod's public types stop at the base class; this is the documented way to the concrete one.
function definition(schema: core.$ZodType) {
  return (schema as core.$ZodTypes)._zod.def;
}
