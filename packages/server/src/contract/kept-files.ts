import { type Artifact, type Note, UserError } from "@herdctl/core";
import { z } from "zod";
import { mediaTypes, streamResponse } from "../live/stream-response.ts";
import { endpoint } from "./endpoint.ts";
import type { Shape } from "./shape.ts";

const bytes = z.number().int().nonnegative();

const artifactSchema = z.object({
  name: z.string(),
  bytes,
  kept_at: z.string(),
} satisfies Shape<Artifact>);

const noteSchema = z.object({
  name: z.string(),
  bytes,
  changed_at: z.string(),
} satisfies Shape<Note>);

/** What agents leave behind as files: kept with a job, or written for their later sessions. */
export const keptFileEndpoints = {
  artifacts: endpoint("artifacts", {
    summary: "The files that a job keeps.",
    params: z.object({ id: z.string() }),
    response: z.object({ artifacts: z.array(artifactSchema) }),
    answer: async ({ control }, { params }) => ({ artifacts: await control.artifacts(params.id) }),
  }),
  artifact: endpoint("artifact", {
    summary: "One file that a job keeps, as it is. A browser shows pictures and saves the rest.",
    params: z.object({ id: z.string(), name: z.string() }),
    response: z.string().meta({ format: "binary" }),
    streams: [mediaTypes.bytes],
    answer: async ({ control, connection }, { params: { id, name } }) => {
      const content = await control.artifact(id, name);
      if (!content) throw new UserError("artifact_not_found", `${id} keeps no file \`${name}\``);
      const answer = streamResponse(piecesOf(content), typeOf(name), connection);
      answer.headers.set(
        "content-disposition",
        `attachment; filename*=UTF-8''${encodeURIComponent(name)}`,
      );
      return answer;
    },
  }),
  notes: endpoint("notes", {
    summary: "The notes that an agent wrote for its later sessions.",
    params: z.object({ agent: z.string() }),
    response: z.object({ notes: z.array(noteSchema) }),
    answer: async ({ control }, { params }) => ({ notes: await control.notes(params.agent) }),
  }),
  note: endpoint("note", {
    summary: "One note of an agent.",
    params: z.object({ agent: z.string(), name: z.string() }),
    response: z.object({ name: z.string(), text: z.string() }),
    answer: async ({ control }, { params: { agent, name } }) => {
      const text = await control.note(agent, name);
      if (text !== undefined) return { name, text };
      throw new UserError("note_not_found", `${agent} has no note \`${name}\``);
    },
  }),
};

async function* piecesOf(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* content;
}

/** No type that a browser would run something of. */
const pictures: Record<string, string> = {
  gif: "image/gif",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  png: "image/png",
  webp: "image/webp",
};

function typeOf(name: string): string {
  return pictures[name.toLowerCase().split(".").at(-1) ?? ""] ?? mediaTypes.bytes;
}
