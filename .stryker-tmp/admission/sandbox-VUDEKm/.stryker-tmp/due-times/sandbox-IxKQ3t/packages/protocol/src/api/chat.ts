import type { ChatPlatformName } from "../records/chat.ts";

export interface ChatConnectionStatus {
  agent: string;
  platform: ChatPlatformName;
  state: "connecting" | "connected" | "failed";
  problem: string | null;
  /** Number of rooms in which the agent is answering now. */
  active_conversations: number;
}
