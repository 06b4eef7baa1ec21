import { parseUsage } from "./apply-assistant-message.ts";
import type { MessageHandler } from "./transcript.ts";
import { toFields, toNumberOrNull, toText, toTextOrNull } from "./unknown-fields.ts";

/** Applies a result. `total_cost_usd` accumulates over the session, so the cost of this result is the difference. */
export const applyResult: MessageHandler = (transcript, message, line) => {
  const total = toNumberOrNull(message.total_cost_usd);
  const errors = Array.isArray(message.errors) ? message.errors.map(toText) : [];
  transcript.addEntry(null, {
    ...transcript.baseFields(line, `e${line.start}`),
    kind: "end",
    isError: message.is_error === true || toText(message.subtype).startsWith("error"),
    text: [toText(message.result), ...errors].filter((text) => text !== "").join("\n"),
    costUsd: total === null ? null : Math.max(0, total - (transcript.totalUsd ?? 0)),
    isFirst: transcript.totalUsd === null,
    turns: toNumberOrNull(message.num_turns),
    durationMs: toNumberOrNull(message.duration_ms),
    apiMs: toNumberOrNull(message.duration_api_ms),
    usage: parseUsage(message.usage),
    uuid: null,
  });
  transcript.totalUsd = total ?? transcript.totalUsd;
  transcript.sessionId = toTextOrNull(message.session_id) ?? transcript.sessionId;
  const thread = transcript.thread(null);
  thread.lastActivityAt = line.at ?? thread.lastActivityAt;
  const modelUsage = toFields(message.modelUsage);
  transcript.model ??= Object.keys(modelUsage)[0] ?? null;
};
