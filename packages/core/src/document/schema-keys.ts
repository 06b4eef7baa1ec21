import type { core, z } from "zod";

/** The keys that an object schema knows at a path, for "did you mean". */
export function knownKeys(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  return [...new Set(schemasAt(schema, path).flatMap(keysOf))];
}

function schemasAt(schema: core.$ZodType, path: readonly PropertyKey[]): core.$ZodType[] {
  return path.reduce<core.$ZodType[]>(
    (found, part) => found.flatMap((one) => step(one, part)),
    [schema],
  );
}

function step(schema: core.$ZodType, part: PropertyKey): core.$ZodType[] {
  return unwrap(schema).flatMap((one): core.$ZodType[] => {
    const def = (one as core.$ZodTypes)._zod.def;
    if (def.type === "object")
      return [def.shape[String(part)]].filter((next) => next !== undefined);
    if (def.type === "record") return [def.valueType];
    if (def.type === "array") return [def.element];
    return [];
  });
}

function keysOf(schema: core.$ZodType): string[] {
  return unwrap(schema).flatMap((one) => {
    const def = (one as core.$ZodTypes)._zod.def;
    return def.type === "object" ? Object.keys(def.shape) : [];
  });
}

/** Through optional, default, pipe and union to the schemas that say what may stand there. */
function unwrap(schema: core.$ZodType): core.$ZodType[] {
  const def = (schema as core.$ZodTypes)._zod.def;
  if ("innerType" in def) return unwrap(def.innerType as core.$ZodType);
  if (def.type === "pipe") return unwrap(def.in);
  if (def.type === "union") return def.options.flatMap(unwrap);
  if (def.type === "lazy") return unwrap(def.getter());
  return [schema];
}
