/**
 * A message of Claude Code's output stream, recorded and forwarded unchanged. The Agent SDK exports
 * the exact types as `SDKMessage`. New versions add message types, so unknown types are allowed.
 */
export interface ClaudeMessage {
  type: string;
  [field: string]: unknown;
}

/** The fields that `toJobEvents` reads, by message type. */
export interface KnownMessages {
  system: SystemMessage;
  assistant: { message: { content: AssistantBlock[] }; parent_tool_use_id: string | null };
  user: { message: { content: string | UserBlock[] }; parent_tool_use_id: string | null };
  stream_event: {
    event: { type: string; delta?: { type: string; text?: string } };
    parent_tool_use_id: string | null;
  };
  rate_limit_event: { rate_limit_info: { status: string; resetsAt?: number } };
  result: {
    subtype: string;
    is_error: boolean;
    result?: string;
    errors?: string[];
    total_cost_usd?: number;
    num_turns: number;
    duration_ms: number;
  };
}

type AssistantBlock =
  | { type: "text"; text: string }
  | { type: "thinking"; thinking: string }
  | { type: "tool_use"; id: string; name: string; input: unknown }
  | { type: "other" };

type UserBlock =
  | { type: "tool_result"; tool_use_id: string; is_error?: boolean; content?: unknown }
  | { type: "text"; text: string };

type SystemMessage =
  | {
      subtype: "init";
      session_id: string;
      cwd: string;
      model?: string;
      claude_code_version?: string;
    }
  | {
      subtype: "api_retry";
      attempt: number;
      max_retries: number;
      error_status: number | null;
      retry_delay_ms: number;
    }
  | { subtype: "permission_denied"; tool_name: string; message: string }
  | { subtype: "task_started"; description: string }
  | { subtype: "task_notification"; summary: string }
  | { subtype: "other" };
