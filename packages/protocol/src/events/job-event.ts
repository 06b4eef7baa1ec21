import type { ClaudeMessage, KnownMessages } from "./claude-message.ts";

/**
 * A message in the form that the terminal, the dashboard and chats display. The log on disk
 * contains the original messages.
 */
export type JobEvent =
  | {
      kind: "started";
      sessionId: string;
      cwd: string;
      model: string | undefined;
      version: string | undefined;
    }
  /** A piece of a streamed text; the complete text follows. */
  | { kind: "text_piece"; text: string; parent: string | null }
  | { kind: "text"; text: string; parent: string | null }
  | { kind: "thinking"; text: string; parent: string | null }
  | { kind: "tool_call"; id: string; tool: string; input: unknown; parent: string | null }
  | { kind: "tool_result"; id: string; text: string; isError: boolean; parent: string | null }
  | { kind: "denied"; tool: string; reason: string }
  | { kind: "retry"; attempt: number; of: number; status: number | null; delayMs: number }
  | { kind: "task"; state: "started" | "ended"; description: string }
  | { kind: "limit"; rejected: boolean; resetsAt: number | undefined }
  | {
      kind: "result";
      isError: boolean;
      text: string;
      costUsd: number;
      turns: number;
      durationMs: number;
    }
  | { kind: "other"; type: string };

/** What a message of Claude Code says, as events to display. */
export function toJobEvents(message: ClaudeMessage): JobEvent[] {
  if (!isKnownType(message.type)) return [{ kind: "other", type: String(message.type) }];
  return messageConverters[message.type](message as never);
}

const messageConverters: { [T in keyof KnownMessages]: (message: KnownMessages[T]) => JobEvent[] } =
  {
    system: convertSystemMessage,
    assistant: ({ message, parent_tool_use_id: parent }) =>
      message.content.flatMap((block): JobEvent[] => {
        if (block.type === "text") return [{ kind: "text", text: block.text, parent }];
        if (block.type === "thinking") return [{ kind: "thinking", text: block.thinking, parent }];
        if (block.type !== "tool_use") return [];
        return [{ kind: "tool_call", id: block.id, tool: block.name, input: block.input, parent }];
      }),
    user: ({ message, parent_tool_use_id: parent }) => {
      if (typeof message.content === "string") return [];
      return message.content.flatMap((block): JobEvent[] => {
        if (block.type !== "tool_result") return [];
        const { tool_use_id: id, is_error: isError = false } = block;
        return [{ kind: "tool_result", id, text: contentText(block.content), isError, parent }];
      });
    },
    stream_event: ({ event, parent_tool_use_id: parent }) => {
      if (event.type !== "content_block_delta" || event.delta?.type !== "text_delta") return [];
      return [{ kind: "text_piece", text: event.delta.text ?? "", parent }];
    },
    rate_limit_event: ({ rate_limit_info: { status, resetsAt } }) => [
      { kind: "limit", rejected: status === "rejected", resetsAt },
    ],
    result: (message) => [
      {
        kind: "result",
        isError: message.is_error,
        text:
          message.subtype === "success"
            ? (message.result ?? "")
            : (message.errors ?? []).join("\n"),
        costUsd: message.total_cost_usd ?? 0,
        turns: message.num_turns,
        durationMs: message.duration_ms,
      },
    ],
  };

function isKnownType(type: string): type is keyof KnownMessages {
  return Object.hasOwn(messageConverters, type);
}

function convertSystemMessage(message: KnownMessages["system"]): JobEvent[] {
  switch (message.subtype) {
    case "init": {
      const { session_id: sessionId, cwd, model, claude_code_version: version } = message;
      return [{ kind: "started", sessionId, cwd, model, version }];
    }
    case "api_retry": {
      const { attempt, max_retries: of, error_status: status, retry_delay_ms: delayMs } = message;
      return [{ kind: "retry", attempt, of, status, delayMs }];
    }
    case "permission_denied":
      return [{ kind: "denied", tool: message.tool_name, reason: message.message }];
    case "task_started":
      return [{ kind: "task", state: "started", description: message.description }];
    case "task_notification":
      return [{ kind: "task", state: "ended", description: message.summary }];
    default:
      return [{ kind: "other", type: `system/${message.subtype}` }];
  }
}

export function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .flatMap((block) => (block?.type === "text" ? [String(block.text)] : []))
    .join("\n");
}
