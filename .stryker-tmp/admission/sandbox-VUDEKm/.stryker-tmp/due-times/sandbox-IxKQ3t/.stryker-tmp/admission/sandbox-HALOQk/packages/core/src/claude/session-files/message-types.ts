import type { TokenUsage } from "../token-usage.ts";
import type { ChatMessage } from "./session-line.ts";

/**
 * The messages of stdout as far as the file contains them. Messages that no line contains are built
 * from others and marked with `herdctl_synthesised`.
 */
export type FileMessage =
  | FileInitMessage
  | FileAssistantMessage
  | FileUserMessage
  | FileCompactMessage
  | FileResultMessage;

interface MessageBase {
  uuid: string;
  session_id: string;
}

interface FileInitMessage extends MessageBase {
  type: "system";
  subtype: "init";
  herdctl_synthesised: true;
  cwd: string;
  claude_code_version?: string;
  model?: string;
  permissionMode?: string;
}

interface ConversationMessage extends MessageBase {
  message: ChatMessage;
  parent_tool_use_id: string | null;
  timestamp?: string;
  subagent_type?: string;
  task_description?: string;
}

export interface FileAssistantMessage extends ConversationMessage {
  type: "assistant";
  error?: string;
  request_id?: string;
}

export interface FileUserMessage extends ConversationMessage {
  type: "user";
  tool_use_result?: unknown;
  tool_result_meta?: { id: string; permission_decision?: unknown; non_execution_kind?: unknown }[];
  isReplay?: boolean;
  isSynthetic?: true;
}

interface FileCompactMessage extends MessageBase {
  type: "system";
  subtype: "compact_boundary";
  compact_metadata: unknown;
}

/** Has no `permission_denials`: the file does not contain them, and an empty list would mean none. */
export interface FileResultMessage extends MessageBase {
  type: "result";
  subtype: "success" | "error_max_turns" | "error_during_execution";
  herdctl_synthesised: true;
  is_error: boolean;
  api_error_status?: number | null;
  result?: string;
  errors?: string[];
  stop_reason: string | null;
  num_turns: number;
  duration_ms: number;
  duration_api_ms?: number;
  usage: TokenUsage;
  /** Absent for versions that do not write the cost to the file. */
  total_cost_usd?: number;
  modelUsage: Record<string, unknown>;
}
