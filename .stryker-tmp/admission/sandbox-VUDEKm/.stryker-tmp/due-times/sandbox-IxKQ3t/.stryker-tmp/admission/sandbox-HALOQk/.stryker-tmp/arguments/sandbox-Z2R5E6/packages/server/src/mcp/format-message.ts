import type { ClaudeMessage } from "@herdctl/protocol";
import { type JobEvent, toJobEvents } from "@herdctl/protocol";

const maxResultChars = 4_000;

/** Formats a message as text; empty for messages without content. */
export function formatMessage(message: ClaudeMessage): string {
  return parseEvents(message)
    .map(formatEvent)
    .filter((text) => text !== "")
    .join("\n");
}

/** Another version of Claude Code may have written an unknown message format. */
function parseEvents(message: ClaudeMessage): JobEvent[] {
  try {
    return toJobEvents(message);
  } catch {
    return [];
  }
}

function formatEvent(event: JobEvent): string {
  switch (event.kind) {
    case "text":
      return event.text;
    case "tool_call":
      return `[uses ${event.tool}] ${truncate(JSON.stringify(event.input) ?? "")}`;
    case "tool_result":
      return `[${event.isError ? "error" : "result"}] ${truncate(event.text)}`;
    case "denied":
      return `[denied ${event.tool}] ${event.reason}`;
    case "retry":
      return `[API error, retry ${event.attempt} of ${event.of}]`;
    case "task":
      return `[background task ${event.state}] ${event.description}`;
    case "result":
      return event.isError ? `[failed] ${event.text}` : "[finished]";
    default:
      return "";
  }
}

function truncate(text: string): string {
  const excessChars = text.length - maxResultChars;
  return excessChars > 0
    ? `${text.slice(0, maxResultChars)} (${excessChars} more characters)`
    : text;
}
