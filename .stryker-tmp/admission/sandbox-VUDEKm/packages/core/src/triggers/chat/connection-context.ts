import type { ResolvedAgent } from "@herdctl/config";
import type { ChatPlatformName } from "@herdctl/protocol";
import type { ChatStore } from "../../store/contracts/stores.ts";
import type { ChatApprovals } from "./chat-approvals.ts";
import type { ChatFleetApi } from "./chat-fleet-api.ts";
import type { ChatSettings, Connector } from "./connector.ts";

/** Shared by all parts of one agent on one platform. */
export interface ConnectionContext {
  readonly platform: ChatPlatformName;
  readonly settings: NonNullable<ChatSettings[ChatPlatformName]>;
  readonly connector: Connector;
  readonly store: ChatStore;
  readonly fleet: ChatFleetApi;
  readonly approvals: ChatApprovals;
  /** Aborted when the connection is closed; the next connection continues. */
  readonly signal: AbortSignal;
  agent(): ResolvedAgent;
  reportError(message: string, cause?: unknown): void;
  /** A message was answered, so an earlier problem is over. */
  onAnswered(): void;
}
