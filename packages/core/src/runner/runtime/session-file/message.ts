import type { TokenUsage } from "../../../gateway/token-usage.ts";
import type { ChatMessage } from "./line.ts";

/**
 * The messages that stdout would have given, as far as the file tells. What no line of the file
 * holds is made up from others and says so with `herdctl_synthesised`.
 */
export type FileMessage =
  | FileInitMessage
  | FileAssistantMessage
  | FileUserMessage
  | FileCompactMessage
  | FileResultMessage;

interface Common {
  uuid: string;
  session_id: string;
}

interface FileInitMessage extends Common {
  type: "system";
  subtype: "init";
  herdctl_synthesised: true;
  cwd: string;
  claude_code_version?: string;
  model?: string;
  permissionMode?: string;
}

interface Spoken extends Common {
  message: ChatMessage;
  parent_tool_use_id: string | null;
  timestamp?: string;
  subagent_type?: string;
  task_description?: string;
}

export interface FileAssistantMessage extends Spoken {
  type: "assistant";
  error?: string;
  request_id?: string;
}

export interface FileUserMessage extends Spoken {
  type: "user";
  tool_use_result?: unknown;
  tool_result_meta?: { id: string; permission_decision?: unknown; non_execution_kind?: unknown }[];
  isReplay?: boolean;
  isSynthetic?: true;
}

interface FileCompactMessage extends Common {
  type: "system";
  subtype: "compact_boundary";
  compact_metadata: unknown;
}

/** Denials are not in the file, so there is no `permission_denials`: unknown is not none. */
export interface FileResultMessage extends Common {
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
  /** Absent where the version writes no cost into the file. */
  total_cost_usd?: number;
  modelUsage: Record<string, unknown>;
}
