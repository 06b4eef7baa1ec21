import { z } from "zod";
import type { ModelRequest } from "../request/model-request.ts";

/** What the binary's own errands get: JSON in the shape it asks for, else a summary. */
export function errandReply(request: ModelRequest): string {
  const format = request.body.output_config?.format;
  if (format) return JSON.stringify(exampleOf(format.schema));
  return "<summary>A rehearsed conversation.</summary>";
}

const shapeSchema = z.looseObject({
  type: z.string().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
});

const examples: Record<string, unknown> = {
  string: "Rehearsal",
  number: 0,
  integer: 0,
  boolean: false,
  array: [],
};

function exampleOf(schema: unknown): unknown {
  const shape = shapeSchema.safeParse(schema).data;
  if (!shape?.properties) return examples[shape?.type ?? ""] ?? {};
  return Object.fromEntries(
    Object.entries(shape.properties).map(([name, inner]) => [name, exampleOf(inner)]),
  );
}
