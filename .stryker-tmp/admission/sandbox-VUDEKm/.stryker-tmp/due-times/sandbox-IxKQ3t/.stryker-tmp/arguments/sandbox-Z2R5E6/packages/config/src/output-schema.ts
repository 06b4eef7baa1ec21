import { createRequire } from "node:module";
import type { Ajv, ErrorObject, ValidateFunction } from "ajv";
import type { JsonSchema } from "./json-schema.ts";
import type { ResolvedAgent } from "./resolve-agent.ts";

/** The errors of a value, one line each; empty if the value matches the schema. */
export type ValueChecker = (value: unknown) => string[];

/** Throws an error with a readable reason if the schema is not a valid JSON Schema. */
export function compileSchema(schema: JsonSchema): ValueChecker {
  const validate = createAjv(schema).compile(schema);
  return (value) => (validate(value) ? [] : formatErrors(validate));
}

/** The schema for the report of a job; undefined if its schedule sets none. */
export function outputSchemaOf(
  agent: Pick<ResolvedAgent, "schedules">,
  schedule: string | null,
): JsonSchema | undefined {
  const schema = schedule === null ? undefined : agent.schedules[schedule]?.output_schema;
  // The path of a file was replaced by its content when the configuration was loaded.
  return typeof schema === "string" ? undefined : schema;
}

const require = createRequire(import.meta.url);

/** Loaded for the first schema: most commands read a configuration that has none. */
function createAjv({ $schema }: JsonSchema): Ajv {
  const options = { allErrors: true, strict: false, logger: false } as const;
  const isDraft07OrOlder = typeof $schema === "string" && /draft-0[67]/.test($schema);
  // CommonJS packages whose types are those of the whole module.
  const { default: Ajv } = require(
    isDraft07OrOlder ? "ajv" : "ajv/dist/2020.js",
  ) as typeof import("ajv");
  const { default: addFormats } = require("ajv-formats") as { default: (ajv: Ajv) => void };
  const ajv = new Ajv(options);
  addFormats(ajv);
  return ajv;
}

const maxErrorLines = 20;

function formatErrors({ errors }: ValidateFunction): string[] {
  const lines = [...new Set((errors ?? []).map(formatError))];
  const more = lines.length - maxErrorLines;
  return more > 0 ? [...lines.slice(0, maxErrorLines), `and ${more} more`] : lines;
}

function formatError({
  instancePath,
  keyword,
  message = "is invalid",
  params,
}: ErrorObject): string {
  const where = instancePath === "" ? "the report" : instancePath.slice(1).replaceAll("/", ".");
  if (keyword === "additionalProperties")
    return `${where} must not have \`${params.additionalProperty}\``;
  if (keyword === "enum") return `${where} must be one of ${JSON.stringify(params.allowedValues)}`;
  if (keyword === "const") return `${where} must be ${JSON.stringify(params.allowedValue)}`;
  return `${where} ${message}`;
}
