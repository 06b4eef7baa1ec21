import type { JobEvent, SDKMessage } from "@herdctl/core";
import { eventsOf } from "@herdctl/core/light";

const longestResult = 4_000;

/** A message of a log as lines to be read; empty when it says nothing. */
export function tellMessage(message: SDKMessage): string {
  return eventsIn(message)
    .map(tell)
    .filter((text) => text !== "")
    .join("\n");
}

/** Another version may have written it in a shape of its own. */
function eventsIn(message: SDKMessage): JobEvent[] {
  try {
    return eventsOf(message);
  } catch {
    return [];
  }
}

function tell(event: JobEvent): string {
  switch (event.kind) {
    case "text":
      return event.text;
    case "tool_call":
      return `[uses ${event.tool}] ${cut(JSON.stringify(event.input) ?? "")}`;
    case "tool_result":
      return `[${event.isError ? "error" : "result"}] ${cut(event.text)}`;
    case "denied":
      return `[denied ${event.tool}] ${event.reason}`;
    case "retry":
      return `[the API failed, try ${event.attempt} of ${event.of}]`;
    case "task":
      return `[background task ${event.state}] ${event.description}`;
    case "result":
      return event.isError ? `[ended with an error] ${event.text}` : "[ended]";
    default:
      return "";
  }
}

function cut(text: string): string {
  const rest = text.length - longestResult;
  return rest > 0 ? `${text.slice(0, longestResult)} (${rest} more characters)` : text;
}
