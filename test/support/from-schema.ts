import fc from "fast-check";
import { expect } from "vitest";
import { z } from "zod";

/** Texts of every form that a field may want, harmless and not. */
const texts = [
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
    "0 9 * * *",
    "2090-01-01T00:00",
    "UTC",
    "o/r",
    "/herd",
    "X-Sig",
  ],
];
const numbers = [-100, 0, 0.5, 1, 2, 7, 50, 128, 600, 2000];

/**
 * Values of every form that a schema accepts, made from the schema itself: a field that is added
 * to it is covered without a word here, or the test fails because no text above fits.
 */
export function fromSchema(schema: z.core.$ZodType, path = "value"): fc.Arbitrary<unknown> {
  // zod's public types stop at the base class; this is the documented way to the concrete one.
  const { def } = (schema as z.core.$ZodTypes)._zod;
  const fitting = (values: readonly unknown[]) => {
    const fit = values.filter((one) => z.safeParse(schema, one).success);
    return fit.length > 0 ? fc.constantFrom(...fit) : expect.fail(`no value fits ${path}`);
  };
  switch (def.type) {
    case "string":
      return fitting(texts);
    case "number":
      return fitting(numbers);
    case "boolean":
      return fc.boolean();
    case "literal":
      return fc.constantFrom(...def.values);
    case "enum":
      return fc.constantFrom(...Object.values(def.entries));
    case "unknown":
      return fc.constantFrom("object", "string");
    case "array":
      return fc.array(fromSchema(def.element, `${path}[]`), { maxLength: 2 });
    case "union":
      return fc.oneof(...def.options.map((option) => fromSchema(option, path)));
    case "record":
      return fc.dictionary(
        fromSchema(def.keyType, path).map(String),
        fromSchema(def.valueType, path),
        {
          maxKeys: 2,
        },
      );
    case "object":
      // Sometimes nothing in the place of a block, which must not remove what others say in it.
      return fc.option(fromShape(def.shape, path), { freq: 20 });
    case "pipe": {
      const isText = (def.in as z.core.$ZodTypes)._zod.def.type === "string";
      return isText ? fitting(texts) : fromSchema(def.in, path);
    }
    default:
      if ("innerType" in def) return fromSchema(def.innerType as z.core.$ZodType, path);
      return expect.fail(`${path}: no values are made for \`${def.type}\``);
  }
}

/** A few of its fields, and those that it cannot do without. */
function fromShape(shape: Readonly<Record<string, z.core.$ZodType>>, path: string) {
  const fields = Object.entries(shape);
  const required = fields.filter(([, field]) => !z.safeParse(field, undefined).success);
  const names = fields.map(([name]) => name);
  const made = Object.fromEntries(
    fields.map(([name, field]) => [name, fromSchema(field, `${path}.${name}`)]),
  );
  return fc.uniqueArray(fc.constantFrom(...names), { maxLength: 3 }).chain((chosen) => {
    const all = new Set([...required.map(([name]) => name), ...chosen]);
    return fc.record(Object.fromEntries(Object.entries(made).filter(([name]) => all.has(name))));
  });
}
