import type { IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";

/** The fields of Discord requests that the stand-in reads. */
interface RequestJson {
  content?: string;
  nonce?: string | number | null;
  enforce_nonce?: boolean;
  components?: unknown[];
  message_reference?: { message_id: string };
  recipient_id?: string;
  type?: number;
  data?: { content?: string };
}

export interface Form {
  json: RequestJson;
  files: { name: string; content: Buffer }[];
}

/** Reads a JSON body, or a multipart form with JSON and files. */
export async function readForm(request: IncomingMessage): Promise<Form> {
  const body = await buffer(request);
  const type = request.headers["content-type"] ?? "";
  if (!type.startsWith("multipart/")) {
    return { json: body.length > 0 ? JSON.parse(body.toString("utf8")) : {}, files: [] };
  }
  const form = await new Response(new Uint8Array(body), {
    headers: { "content-type": type },
  }).formData();
  const files: Form["files"] = [];
  let json: RequestJson = {};
  for (const [key, value] of form.entries()) {
    if (typeof value === "string") {
      if (key === "payload_json") json = JSON.parse(value);
    } else files.push({ name: value.name, content: Buffer.from(await value.arrayBuffer()) });
  }
  return { json, files };
}
