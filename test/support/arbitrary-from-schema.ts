import fc from "fast-check";
import { expect } from "vitest";
import { z } from "zod";

/** Texts of every kind that a field may accept, harmless and not. */
const sampleTexts = [
  ...["one", "jira", "twin", "hostagent", "*", "x: y", "API_KEY", "GRANTED", "NOT_SET"],
  ...["${API_KEY}", "${GRANTED}", "${API_KEY:-none}", "${NOT_SET:-none}", "a ${API_KEY} b"],
  ...[
    "..",
    "../repo",
    "../elsewhere",
    "../roots/a",
    "/srv",
    "/opt/x",
    "~/.ssh",
    "~/work",
    "report.json",
  ],
  ...[
    "../herdctl.yaml",
    "../.env",
    "file:///srv/repo",
    "https://evil.example/x",
    "git@evil.example:a",
  ],
  ...["npm", "evil.example", "./x:/x:rw", "/srv:/x:ro", "/var/tmp", "image:1", "1000", "10.0.0.5"],
  ...["Bash", "mcp__jira__*", "mcp__jira__read", "mcp__*", "id", "success", "outcome == 'success'"],
  ...[
    "5m",
    "3h",
    "0s",
    "1g",
    "64g",
    "200k",
    "0 9 * * *",
    "2090-01-01T00:00",
    "UTC",
    "o/r",
    "/herd",
    "X-Sig",
  ],
];
const sampleNumbers = [-100, 0, 0.5, 1, 2, 7, 50, 128, 600, 2000];

/**
 * Arbitrary values of every form that a schema accepts, derived from the schema: a new field is
 * covered automatically, or the test fails because no sample text above fits.
 */
export function arbitraryFromSchema(
  schema: z.core.$ZodType,
  path = "value",
): fc.Arbitrary<unknown> {
  // zod's public types stop at the base class; its documentation recommends this cast.
  const { def } = (schema as z.core.$ZodTypes)._zod;
  const isValid = (values: readonly unknown[]) => {
    const fit = values.filter((one) => z.safeParse(schema, one).success);
    return fit.length > 0 ? fc.constantFrom(...fit) : expect.fail(`no value fits ${path}`);
  };
  switch (def.type) {
    case "string":
      return isValid(sampleTexts);
    case "number":
      return isValid(sampleNumbers);
    case "null":
      return fc.constant(null);
    case "boolean":
      return fc.boolean();
    case "literal":
      return fc.constantFrom(...def.values);
    case "enum":
      return fc.constantFrom(...Object.values(def.entries));
    case "unknown":
      return fc.constantFrom("object", "string");
    case "array":
      return fc.array(arbitraryFromSchema(def.element, `${path}[]`), { maxLength: 2 });
    case "union":
      return fc.oneof(...def.options.map((option) => arbitraryFromSchema(option, path)));
    case "record":
      return fc.dictionary(
        arbitraryFromSchema(def.keyType, path).map(String),
        arbitraryFromSchema(def.valueType, path),
        {
          maxKeys: 2,
        },
      );
    case "object":
      // Sometimes null in place of a block, which must not remove what other files set in it.
      return fc.option(arbitraryFromShape(def.shape, path), { freq: 20 });
    case "pipe": {
      const isText = (def.in as z.core.$ZodTypes)._zod.def.type === "string";
      return isText ? isValid(sampleTexts) : arbitraryFromSchema(def.in, path);
    }
    default:
      if ("innerType" in def) return arbitraryFromSchema(def.innerType as z.core.$ZodType, path);
      return expect.fail(`${path}: no values are made for \`${def.type}\``);
  }
}

/** A few of its fields, and all required ones. */
function arbitraryFromShape(shape: Readonly<Record<string, z.core.$ZodType>>, path: string) {
  const fields = Object.entries(shape);
  const required = fields.filter(([, field]) => !z.safeParse(field, undefined).success);
  const names = fields.map(([name]) => name);
  const made = Object.fromEntries(
    fields.map(([name, field]) => [name, arbitraryFromSchema(field, `${path}.${name}`)]),
  );
  return fc.uniqueArray(fc.constantFrom(...names), { maxLength: 3 }).chain((chosen) => {
    const all = new Set([...required.map(([name]) => name), ...chosen]);
    return fc.record(Object.fromEntries(Object.entries(made).filter(([name]) => all.has(name))));
  });
}
