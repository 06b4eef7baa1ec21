import { jsonSchema } from "@herdctl/config";
import type { ConfigChange, ConfigEdit, ConfigEditPreview, Problem } from "@herdctl/protocol";
import { z } from "zod";
import { defineEndpoint } from "./define-endpoint.ts";
import type { FieldSchemas } from "./field-schemas.ts";

const changeSchema = z.strictObject({
  path: z.array(z.string().min(1).max(200)).min(1).max(10),
  value: z.unknown().optional(),
}) satisfies z.ZodType<ConfigChange>;

const editFields = {
  agent: z.string().min(1).max(200),
  create: z.boolean().optional(),
  changes: z.array(changeSchema).max(200),
} satisfies FieldSchemas<ConfigEdit>;

const problemSchema = z.object({
  file: z.string(),
  line: z.number(),
  column: z.number(),
  path: z.string(),
  message: z.string(),
  hint: z.string(),
} satisfies FieldSchemas<Problem>);

const previewSchema = z.object({
  file: z.string(),
  fingerprint: z.string(),
  first_line: z.number().int().positive(),
  before: z.array(z.string()),
  after: z.array(z.string()),
  problems: z.array(problemSchema),
  next: z.array(z.object({ schedule: z.string(), due_at: z.array(z.string()) })),
} satisfies FieldSchemas<ConfigEditPreview>);

export const configEditEndpoints = {
  agentSchema: defineEndpoint("agentSchema", {
    summary: "Get the JSON Schema of an agent, with the trust class of each field.",
    response: z.record(z.string(), z.unknown()),
    handle: async () => jsonSchema("agent"),
  }),
  previewEdit: defineEndpoint("previewEdit", {
    summary:
      "Check an edit of an agent or its schedules as the fleet checks its files, and get the lines it would change. A change without `value` removes the key. Writes nothing.",
    body: z.strictObject(editFields),
    response: previewSchema,
    handle: ({ control }, { body }) => control.config.preview(body),
  }),
  applyEdit: defineEndpoint("applyEdit", {
    summary:
      "Write an edit and reload. Comments in the file stay. Refused if the file has changed since the preview with this `fingerprint`.",
    body: z.strictObject({ ...editFields, fingerprint: z.string() }),
    response: previewSchema,
    handle: ({ control }, { body: { fingerprint, ...edit } }) =>
      control.config.edit(edit, { fingerprint }),
  }),
};
