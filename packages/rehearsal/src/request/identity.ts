import type { IncomingHttpHeaders } from "node:http";
import { z } from "zod";
import { parseJson } from "../parse-json.ts";
import type { RequestKey } from "../request-ledger.ts";

export function readApiKey(headers: IncomingHttpHeaders): RequestKey | undefined {
  const key = headers["x-api-key"];
  if (typeof key === "string") return { kind: "x-api-key", value: key };
  const [, accessKeyId] = /^AWS4-\S+ Credential=([^/]+)\//.exec(headers.authorization ?? "") ?? [];
  if (accessKeyId !== undefined) return { kind: "sigv4", value: accessKeyId };
  const [, token] = /^Bearer\s+(.+)$/i.exec(headers.authorization ?? "") ?? [];
  return token === undefined ? undefined : { kind: "bearer", value: token };
}

/** Claude Code sends the session id in a header and in `metadata.user_id`. */
export function readSessionId(headers: IncomingHttpHeaders, body: unknown): string | undefined {
  const headerValue = headers["x-claude-code-session-id"];
  if (typeof headerValue === "string") return headerValue;
  const userId = metadataSchema.safeParse(body).data?.metadata.user_id;
  return userSchema.safeParse(parseJson(userId ?? "")).data?.session_id;
}

export function readAgentId(headers: IncomingHttpHeaders): string | undefined {
  const id = headers["x-claude-code-agent-id"];
  return typeof id === "string" ? id : undefined;
}

const metadataSchema = z.looseObject({ metadata: z.looseObject({ user_id: z.string() }) });
const userSchema = z.looseObject({ session_id: z.string() });
