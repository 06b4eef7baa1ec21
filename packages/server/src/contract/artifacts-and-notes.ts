import { type Artifact, type Note, UserError } from "@herdctl/protocol";
import { z } from "zod";
import { mediaTypes, streamResponse } from "../streams/stream-response.ts";
import { defineEndpoint } from "./define-endpoint.ts";
import type { FieldSchemas } from "./field-schemas.ts";

const bytes = z.number().int().nonnegative();

const artifactSchema = z.object({
  name: z.string(),
  bytes,
  kept_at: z.string(),
} satisfies FieldSchemas<Artifact>);

const noteSchema = z.object({
  name: z.string(),
  bytes,
  changed_at: z.string(),
} satisfies FieldSchemas<Note>);

/** Files that agents create: artifacts of a job, and notes for later sessions. */
export const artifactAndNoteEndpoints = {
  artifacts: defineEndpoint("artifacts", {
    summary: "List the files kept with a job.",
    params: z.object({ id: z.string() }),
    response: z.object({ artifacts: z.array(artifactSchema) }),
    handle: async ({ control }, { params }) => ({
      artifacts: await control.artifacts.list(params.id),
    }),
  }),
  artifact: defineEndpoint("artifact", {
    summary: "Download a file kept with a job.",
    params: z.object({ id: z.string(), name: z.string() }),
    response: z.string().meta({ format: "binary" }),
    streamMediaTypes: [mediaTypes.bytes],
    handle: async ({ control, connection }, { params: { id, name } }) => {
      const content = await control.artifacts.read(id, name);
      if (!content) throw new UserError("artifact_not_found", `job ${id} has no file \`${name}\``);
      const response = streamResponse(toGenerator(content), mediaTypeOf(name), connection);
      response.headers.set(
        "content-disposition",
        `attachment; filename*=UTF-8''${encodeURIComponent(name)}`,
      );
      return response;
    },
  }),
  notes: defineEndpoint("notes", {
    summary: "List the notes that an agent wrote for its later sessions.",
    params: z.object({ agent: z.string() }),
    response: z.object({ notes: z.array(noteSchema) }),
    handle: async ({ control }, { params }) => ({ notes: await control.notes.list(params.agent) }),
  }),
  note: defineEndpoint("note", {
    summary: "Get a note of an agent.",
    params: z.object({ agent: z.string(), name: z.string() }),
    response: z.object({ name: z.string(), text: z.string() }),
    handle: async ({ control }, { params: { agent, name } }) => {
      const text = await control.notes.read(agent, name);
      if (text !== undefined) return { name, text };
      throw new UserError("note_not_found", `agent ${agent} has no note \`${name}\``);
    },
  }),
};

async function* toGenerator(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* content;
}

/** Only media types that browsers do not execute. */
const imageMediaTypes: Record<string, string> = {
  gif: "image/gif",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  png: "image/png",
  webp: "image/webp",
};

function mediaTypeOf(name: string): string {
  return imageMediaTypes[name.toLowerCase().split(".").at(-1) ?? ""] ?? mediaTypes.bytes;
}
