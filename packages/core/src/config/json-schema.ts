import { z } from "zod";
import { agentSchema } from "./schema/agent.ts";
import { agentFileEntry, fleetSchema } from "./schema/fleet.ts";
import { trustRuleOf } from "./schema/trust.ts";

export type JsonSchema = Record<string, unknown>;

/** What editors check while someone types: the fleet file, or an agent file. */
export function jsonSchema(of: "fleet" | "agent"): JsonSchema {
  const agent = acceptVariables(generate(agentSchema));
  if (of === "agent") return { title: "herdctl agent", ...agent };

  const { $schema: _, ...agentBody } = agent;
  const part = withoutRequired(agentBody);
  const fleet = acceptVariables(generate(fleetSchema));
  const properties = child(fleet, "properties");
  return {
    title: "herdctl fleet",
    ...fleet,
    $defs: { agent: agentBody, part },
    properties: {
      ...properties,
      defaults: described(properties, "defaults", { $ref: "#/$defs/part" }),
      agents: described(properties, "agents", {
        type: "array",
        items: { anyOf: [entryOfFile(), { $ref: "#/$defs/agent" }] },
      }),
    },
  };
}

function entryOfFile(): JsonSchema {
  const { $schema: _, ...entry } = acceptVariables(generate(agentFileEntry));
  const properties = child(entry, "properties");
  const overrides = described(properties, "overrides", { $ref: "#/$defs/part" });
  return { ...entry, properties: { ...properties, overrides } };
}

function described(properties: JsonSchema, key: string, content: JsonSchema): JsonSchema {
  const { description } = child(properties, key);
  return { description, ...content };
}

function generate(schema: z.ZodType): JsonSchema {
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

/** `port: ${PORT}` is fine before it is filled in, so numbers and switches may be such a text too. */
function acceptVariables(schema: JsonSchema): JsonSchema {
  return mapObjects(schema, (one) => {
    const types = ["number", "integer", "boolean"];
    if (!types.includes(String(one.type))) return one;
    return { anyOf: [one, { type: "string", pattern: "\\$\\{" }] };
  });
}

/** Overrides and defaults say a part: nothing in them is required. */
function withoutRequired(schema: JsonSchema): JsonSchema {
  return mapObjects(schema, ({ required: _, ...rest }) => rest);
}

function mapObjects(schema: JsonSchema, change: (one: JsonSchema) => JsonSchema): JsonSchema {
  const inner = Object.entries(schema).map(([key, value]) => [key, mapValue(value, change)]);
  return change(Object.fromEntries(inner));
}

function mapValue(value: unknown, change: (one: JsonSchema) => JsonSchema): unknown {
  if (Array.isArray(value)) return value.map((item) => mapValue(item, change));
  if (typeof value !== "object" || value === null) return value;
  return mapObjects({ ...value }, change);
}

function child(schema: JsonSchema, key: string): JsonSchema {
  const found = schema[key];
  return typeof found === "object" && found !== null ? { ...found } : {};
}
