import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";

/**
 * What a message means to somebody who looks on. The log on disk keeps messages as they came;
 * terminal, dashboard and chat all show these.
 */
export type JobEvent =
  | {
      kind: "started";
      sessionId: string;
      cwd: string;
      model: string | undefined;
      version: string | undefined;
    }
  /** A piece of text while the model speaks; the whole text follows. */
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

export function eventsOf(message: SDKMessage): JobEvent[] {
  const fold = folds[message.type];
  return fold ? fold(message as never) : [{ kind: "other", type: String(message.type) }];
}

type Of<T extends SDKMessage["type"]> = Extract<SDKMessage, { type: T }>;
type Folds = { [T in SDKMessage["type"]]?: (message: Of<T>) => JobEvent[] };

const folds: Folds = {
  system: systemEvents,
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
      return [{ kind: "tool_result", id, text: textOf(block.content), isError, parent }];
    });
  },
  stream_event: ({ event, parent_tool_use_id: parent }) => {
    if (event.type !== "content_block_delta" || event.delta.type !== "text_delta") return [];
    return [{ kind: "text_piece", text: event.delta.text, parent }];
  },
  rate_limit_event: ({ rate_limit_info: { status, resetsAt } }) => [
    { kind: "limit", rejected: status === "rejected", resetsAt },
  ],
  result: (message) => [
    {
      kind: "result",
      isError: message.is_error,
      text: message.subtype === "success" ? message.result : (message.errors ?? []).join("\n"),
      costUsd: message.total_cost_usd ?? 0,
      turns: message.num_turns,
      durationMs: message.duration_ms,
    },
  ],
};

function systemEvents(message: Of<"system">): JobEvent[] {
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

export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .flatMap((block) => (block?.type === "text" ? [String(block.text)] : []))
    .join("\n");
}
