import type { ResolvedAgent } from "../config/resolve.ts";
import type { Platform } from "../state/chat.ts";
import type { ChatStore } from "../state/contract.ts";
import type { ChatFleet } from "./chat-fleet.ts";
import type { ChatSettings, Connector } from "./connector.ts";
import type { Questions } from "./questions.ts";

/** What all share that has to do with one agent on one platform. */
export interface LinkContext {
  readonly platform: Platform;
  readonly settings: NonNullable<ChatSettings[Platform]>;
  readonly connector: Connector;
  readonly store: ChatStore;
  readonly fleet: ChatFleet;
  readonly questions: Questions;
  /** Aborted when the link is closed: the next one goes on. */
  readonly signal: AbortSignal;
  agent(): ResolvedAgent;
  trouble(message: string, cause?: unknown): void;
  /** A message was answered: whatever was wrong is no longer. */
  well(): void;
}
