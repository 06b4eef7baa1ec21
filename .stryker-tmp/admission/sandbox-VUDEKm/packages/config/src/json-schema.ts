import { z } from "zod";
import { agentSchema } from "./schema/agent.ts";
import { agentFileEntry, fleetSchema } from "./schema/fleet.ts";
import { trustRuleOf } from "./schema/trust.ts";

export type JsonSchema = Record<string, unknown>;

/** JSON Schema for editors: of the fleet file, or of an agent file. */
export function jsonSchema(kind: "fleet" | "agent"): JsonSchema {
  const agent = acceptVariables(toJsonSchema(agentSchema));
  if (kind === "agent") return { title: "herdctl agent", ...agent };

  const { $schema: _, ...agentBody } = agent;
  const partialAgent = withoutRequired(agentBody);
  const fleet = acceptVariables(toJsonSchema(fleetSchema));
  const properties = child(fleet, "properties");
  return {
    title: "herdctl fleet",
    ...fleet,
    $defs: { agent: agentBody, part: partialAgent },
    properties: {
      ...properties,
      defaults: withDescription(properties, "defaults", { $ref: "#/$defs/part" }),
      agents: withDescription(properties, "agents", {
        type: "array",
        items: { anyOf: [agentFileEntrySchema(), { $ref: "#/$defs/agent" }] },
      }),
    },
  };
}

function agentFileEntrySchema(): JsonSchema {
  const { $schema: _, ...entry } = acceptVariables(toJsonSchema(agentFileEntry));
  const properties = child(entry, "properties");
  const overrides = withDescription(properties, "overrides", { $ref: "#/$defs/part" });
  return { ...entry, properties: { ...properties, overrides } };
}

function withDescription(properties: JsonSchema, key: string, content: JsonSchema): JsonSchema {
  const { description } = child(properties, key);
  return { description, ...content };
}

function toJsonSchema(schema: z.ZodType): JsonSchema {
  const override = ({
    zodSchema,
    jsonSchema,
  }: {
    zodSchema: z.core.$ZodType;
    jsonSchema: object;
  }) => {
    const rule = trustRuleOf(zodSchema);
    if (rule) Object.assign(jsonSchema, { trust: rule.class });
  };
  return { ...z.toJSONSchema(schema, { io: "input", unrepresentable: "any", override }) };
}

/**
 * `port: ${PORT}` is valid before substitution, so numbers and booleans may also be such a text.
 */
function acceptVariables(schema: JsonSchema): JsonSchema {
  return mapObjects(schema, (node) => {
    const types = ["number", "integer", "boolean"];
    if (!types.includes(String(node.type))) return node;
    return { anyOf: [node, { type: "string", pattern: "\\$\\{" }] };
  });
}

/** `overrides` and `defaults` are partial: none of their fields is required. */
function withoutRequired(schema: JsonSchema): JsonSchema {
  return mapObjects(schema, ({ required: _, ...rest }) => rest);
}

function mapObjects(schema: JsonSchema, transform: (node: JsonSchema) => JsonSchema): JsonSchema {
  const inner = Object.entries(schema).map(([key, value]) => [key, mapValue(value, transform)]);
  return transform(Object.fromEntries(inner));
}

function mapValue(value: unknown, transform: (node: JsonSchema) => JsonSchema): unknown {
  if (Array.isArray(value)) return value.map((item) => mapValue(item, transform));
  if (typeof value !== "object" || value === null) return value;
  return mapObjects({ ...value }, transform);
}

function child(schema: JsonSchema, key: string): JsonSchema {
  const found = schema[key];
  return typeof found === "object" && found !== null ? { ...found } : {};
}
