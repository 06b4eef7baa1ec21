import type { IncomingHttpHeaders } from "node:http";
import { type Conversation, readConversation } from "./conversation.ts";
import { detectSpeaker, type SpeakerKind } from "./detect-speaker.ts";
import { readAgentId, readSessionId } from "./identity.ts";
import type { RequestBody } from "./request-body.ts";

/** A parsed request to the model. */
export interface ModelRequest {
  body: RequestBody;
  /** The hash of the body. A retry has the same hash. */
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
    speaker: detectSpeaker(headers, body),
    sessionId: readSessionId(headers, body),
    agentId: readAgentId(headers),
  };
}
