import { fieldsOf, numberOf, textOf, textOrNull } from "./fields.ts";
import type { Fold } from "./story.ts";
import { usageOf } from "./story-said.ts";

/** A result. Costs count on over the whole session: what this one added is the difference. */
export const finish: Fold = (story, message, line) => {
  const total = numberOf(message.total_cost_usd);
  const errors = Array.isArray(message.errors) ? message.errors.map(textOf) : [];
  story.place(null, {
    ...story.common(line, `e${line.start}`),
    kind: "end",
    isError: message.is_error === true || textOf(message.subtype).startsWith("error"),
    text: [textOf(message.result), ...errors].filter((text) => text !== "").join("\n"),
    costUsd: total === null ? null : Math.max(0, total - story.totalUsd),
    turns: numberOf(message.num_turns),
    durationMs: numberOf(message.duration_ms),
    apiMs: numberOf(message.duration_api_ms),
    usage: usageOf(message.usage),
    uuid: null,
  });
  story.totalUsd = total ?? story.totalUsd;
  story.sessionId = textOrNull(message.session_id) ?? story.sessionId;
  const lane = story.lane(null);
  lane.last = line.at ?? lane.last;
  const served = fieldsOf(message.modelUsage);
  story.model ??= Object.keys(served)[0] ?? null;
};
