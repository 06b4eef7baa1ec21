import type { IncomingHttpHeaders } from "node:http";
import type { RequestBody } from "./body.ts";
import { type Conversation, readConversation } from "./conversation.ts";
import { agentOf, sessionOf } from "./identity.ts";
import { type SpeakerKind, speakerOf } from "./kind.ts";

/** A question to the model, read once at the edge. */
export interface ModelRequest {
  body: RequestBody;
  /** Differs between any two bodies; a retry has the same one. */
  bodyHash: string;
  conversation: Conversation;
  speaker: SpeakerKind;
  sessionId: string | undefined;
  agentId: string | undefined;
}

export function readModelRequest(
  headers: IncomingHttpHeaders,
  body: RequestBody,
  bodyHash: string,
): ModelRequest {
  return {
    body,
    bodyHash,
    conversation: readConversation(body),
    speaker: speakerOf(headers, body),
    sessionId: sessionOf(headers, body),
    agentId: agentOf(headers),
  };
}
