import type { JobEvent, SDKMessage } from "@herdctl/core";
import { eventsOf } from "@herdctl/core/light";

/** The events of a message from a log, which another version may have written in a shape of its own. */
export function eventsOfLine(message: Record<string, unknown>): JobEvent[] {
  try {
    return eventsOf(message as unknown as SDKMessage);
  } catch {
    return [{ kind: "other", type: String(message.type) }];
  }
}
