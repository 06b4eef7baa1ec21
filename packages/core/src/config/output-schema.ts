import { createRequire } from "node:module";
import type { Ajv, ErrorObject, ValidateFunction } from "ajv";
import type { JsonSchema } from "./json-schema.ts";
import type { ResolvedAgent } from "./resolve.ts";

/** What is wrong with a value, line by line; nothing when it is as the schema says. */
export type CheckValue = (value: unknown) => string[];

/** Throws, with a reason that people may read, when it is no JSON Schema. */
export function compileSchema(schema: JsonSchema): CheckValue {
  const validate = makeAjv(schema).compile(schema);
  return (value) => (validate(value) ? [] : wordsOf(validate));
}

/** What the report of a job has to hold; a schedule without a word on it wants none. */
export function outputSchemaOf(
  agent: Pick<ResolvedAgent, "schedules">,
  schedule: string | null,
): JsonSchema | undefined {
  const schema = schedule === null ? undefined : agent.schedules[schedule]?.output_schema;
  // The path of a file was replaced by its content when the configuration was loaded.
  return typeof schema === "string" ? undefined : schema;
}

const require = createRequire(import.meta.url);

/** Loaded when the first schema is met: most commands read a configuration without any. */
function makeAjv({ $schema }: JsonSchema): Ajv {
  const options = { allErrors: true, strict: false, logger: false } as const;
  const isOld = typeof $schema === "string" && /draft-0[67]/.test($schema);
  // The edge: packages of the old kind, whose types are those of their modules.
  const { default: Ajv } = require(isOld ? "ajv" : "ajv/dist/2020.js") as typeof import("ajv");
  const { default: addFormats } = require("ajv-formats") as { default: (ajv: Ajv) => void };
  const ajv = new Ajv(options);
  addFormats(ajv);
  return ajv;
}

const mostWords = 20;

function wordsOf({ errors }: ValidateFunction): string[] {
  const lines = [...new Set((errors ?? []).map(wordOf))];
  const more = lines.length - mostWords;
  return more > 0 ? [...lines.slice(0, mostWords), `and ${more} more`] : lines;
}

function wordOf({ instancePath, keyword, message = "is wrong", params }: ErrorObject): string {
  const where = instancePath === "" ? "the report" : instancePath.slice(1).replaceAll("/", ".");
  if (keyword === "additionalProperties")
    return `${where} must not have \`${params.additionalProperty}\``;
  if (keyword === "enum") return `${where} must be one of ${JSON.stringify(params.allowedValues)}`;
  if (keyword === "const") return `${where} must be ${JSON.stringify(params.allowedValue)}`;
  return `${where} ${message}`;
}
