import { z } from "zod";
import type { ModelRequest } from "../request/model-request.ts";

/** The reply to Claude Code's side requests: JSON in the requested schema, or a summary. */
export function sideReply(request: ModelRequest): string {
  const format = request.body.output_config?.format;
  if (format) return JSON.stringify(buildExample(format.schema));
  return "<summary>A rehearsed conversation.</summary>";
}

const jsonSchemaSchema = z.looseObject({
  type: z.string().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
});

const exampleByType: Record<string, unknown> = {
  string: "Rehearsal",
  number: 0,
  integer: 0,
  boolean: false,
  array: [],
};

function buildExample(schema: unknown): unknown {
  const parsed = jsonSchemaSchema.safeParse(schema).data;
  if (!parsed?.properties) return exampleByType[parsed?.type ?? ""] ?? {};
  return Object.fromEntries(
    Object.entries(parsed.properties).map(([name, inner]) => [name, buildExample(inner)]),
  );
}
