import type { IncomingHttpHeaders } from "node:http";
import { z } from "zod";
import type { SeenKey } from "../ledger.ts";
import { parseJson } from "../parse-json.ts";

export function keyOf(headers: IncomingHttpHeaders): SeenKey | undefined {
  const key = headers["x-api-key"];
  if (typeof key === "string") return { kind: "x-api-key", value: key };
  const [, token] = /^Bearer\s+(.+)$/i.exec(headers.authorization ?? "") ?? [];
  return token === undefined ? undefined : { kind: "bearer", value: token };
}

/** The binary names its session in a header, and again inside `metadata.user_id`. */
export function sessionOf(headers: IncomingHttpHeaders, body: unknown): string | undefined {
  const named = headers["x-claude-code-session-id"];
  if (typeof named === "string") return named;
  const userId = metadataSchema.safeParse(body).data?.metadata.user_id;
  return userSchema.safeParse(parseJson(userId ?? "")).data?.session_id;
}

export function agentOf(headers: IncomingHttpHeaders): string | undefined {
  const id = headers["x-claude-code-agent-id"];
  return typeof id === "string" ? id : undefined;
}

const metadataSchema = z.looseObject({ metadata: z.looseObject({ user_id: z.string() }) });
const userSchema = z.looseObject({ session_id: z.string() });
