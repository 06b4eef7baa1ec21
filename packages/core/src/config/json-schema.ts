import { z } from "zod";
import { agentSchema } from "./schema/agent.ts";
import { fleetSchema } from "./schema/fleet.ts";

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
        items: { anyOf: [entry, { $ref: "#/$defs/agent" }] },
      }),
    },
  };
}

const entry = {
  type: "object",
  properties: {
    path: { type: "string", description: "Agent file, or a glob of them" },
    overrides: { $ref: "#/$defs/part", description: "What the fleet says over the file" },
  },
  required: ["path"],
  additionalProperties: false,
};

function described(properties: JsonSchema, key: string, content: JsonSchema): JsonSchema {
  const { description } = child(properties, key);
  return { description, ...content };
}

function generate(schema: z.ZodType): JsonSchema {
  return { ...z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) };
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
