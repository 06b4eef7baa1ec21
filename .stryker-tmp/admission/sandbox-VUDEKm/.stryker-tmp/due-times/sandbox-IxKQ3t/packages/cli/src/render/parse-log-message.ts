import type { ClaudeMessage } from "@herdctl/protocol";
import { type JobEvent, toJobEvents } from "@herdctl/protocol";

/** The events of a logged message. Another version may have written it in a different form. */
export function parseLogMessage(message: Record<string, unknown>): JobEvent[] {
  try {
    return toJobEvents(message as unknown as ClaudeMessage);
  } catch {
    return [{ kind: "other", type: String(message.type) }];
  }
}
