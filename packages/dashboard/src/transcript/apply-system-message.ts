import type { ToolEntry } from "./entry.ts";
import type { MessageHandler, Transcript } from "./transcript.ts";
import {
  toFields,
  toNumberOrNull,
  toText,
  toTextOrNull,
  type UnknownFields,
} from "./unknown-fields.ts";

/** Applies system messages of Claude Code. Subtypes without a handler appear only in the raw events. */
export const applySystemMessage: MessageHandler = (transcript, message, line) =>
  handlersBySubtype[toText(message.subtype)]?.(transcript, message, line);

/** Applies rate limit events. Only rejections are shown. */
export const applyRateLimit: MessageHandler = (transcript, message, line) => {
  const { status, resetsAt } = toFields(message.rate_limit_info);
  if (status !== "rejected") return;
  const resetsAtSeconds = toNumberOrNull(resetsAt);
  const resetNote =
    resetsAtSeconds === null ? "" : `; resets at ${new Date(resetsAtSeconds * 1000).toISOString()}`;
  transcript.addMarker(line, null, {
    marker: "limit",
    text: `Usage limit reached${resetNote}`,
    isError: true,
  });
};

/** Applies notes of fleet tools. Their answers are already shown with the tool call. */
export const applyFleetToolNote: MessageHandler = (transcript, message, line) => {
  const { tool, event, text } = message;
  if (event === "answered" || event === "refused") return;
  const parts = [toText(tool), toText(event), toText(text)].filter((part) => part !== "");
  if (parts.length > 0)
    transcript.addMarker(line, null, { marker: "note", text: parts.join(" · ") });
};

const handlersBySubtype: Record<string, MessageHandler> = {
  init: (transcript, message, line) => {
    const { session_id, model, cwd, claude_code_version } = message;
    const isNewSession = transcript.sessionId !== session_id;
    transcript.sessionId = toTextOrNull(session_id);
    transcript.model = toTextOrNull(model);
    transcript.cwd = toTextOrNull(cwd);
    transcript.thread(null).lastActivityAt = line.at ?? transcript.thread(null).lastActivityAt;
    if (!isNewSession) return;
    const version = toText(claude_code_version);
    const parts = [toText(model), version && `Claude Code ${version}`].filter(
      (part) => part !== "",
    );
    transcript.addMarker(line, null, { marker: "started", text: parts.join(" · ") });
  },
  status: (transcript, { status }, line) => {
    const thread = transcript.thread(null);
    if (status === "requesting") thread.lastActivityAt = line.at ?? thread.lastActivityAt;
  },
  api_retry: (transcript, { attempt, max_retries, error_status, error, retry_delay_ms }, line) => {
    const reason = [toNumberOrNull(error_status), toText(error)].filter(Boolean).join(" ");
    const text = `Retry ${toNumberOrNull(attempt) ?? "?"} of ${toNumberOrNull(max_retries) ?? "?"}: ${reason || "no response"}`;
    const retryDelayMs = toNumberOrNull(retry_delay_ms);
    transcript.addMarker(line, null, { marker: "retry", text, retryDelayMs });
  },
  permission_denied: (transcript, { tool_use_id, tool_name, message }, line) => {
    const tool = transcript.tools.get(toText(tool_use_id));
    const text = toText(message);
    if (tool) {
      tool.deniedReason = text;
      tool.revision += 1;
    } else
      transcript.addMarker(line, null, {
        marker: "denied",
        text: `${toText(tool_name)}: ${text}`,
        isError: true,
      });
  },
  compact_boundary: (transcript, message, line) => {
    const before = toNumberOrNull(toFields(message.compact_metadata).pre_tokens);
    const sizeNote = before === null ? "" : ` from ${before.toLocaleString("en")} tokens`;
    const text = `Conversation compacted${sizeNote}`;
    transcript.addMarker(line, null, { marker: "compacted", text });
  },
  session_writes_lost: (transcript, _message, line) =>
    transcript.addMarker(line, null, {
      marker: "lost",
      text: "Failed to write the session transcript",
      isError: true,
    }),
  task_started: (transcript, message) => {
    const tool = transcript.tools.get(toText(message.tool_use_id));
    if (!tool) return;
    const id = toText(message.task_id);
    const isBackground =
      message.is_backgrounded !== false && tool.input.run_in_background !== false;
    tool.task = { id, isBackground, status: "running", activity: "", tokens: null };
    tool.revision += 1;
    transcript.tasks.set(id, tool);
  },
  task_progress: (transcript, message) => {
    const tool = findTaskTool(transcript, message);
    if (!tool?.task) return;
    tool.task.activity = toText(message.description);
    tool.task.tokens = toNumberOrNull(toFields(message.usage).total_tokens);
    tool.revision += 1;
  },
  task_updated: (transcript, message) => {
    const { status, end_time } = toFields(message.patch);
    if (toText(status) !== "")
      endTask(findTaskTool(transcript, message), toText(status), toNumberOrNull(end_time));
  },
  task_notification: (transcript, message, line) => {
    const tool = findTaskTool(transcript, message);
    const status = toText(message.status);
    endTask(tool, status, line.at);
    if (tool && !tool.task?.isBackground) return;
    const isError = status !== "completed";
    transcript.addMarker(line, null, { marker: "task", text: toText(message.summary), isError });
  },
};

function findTaskTool(
  transcript: Transcript,
  { task_id, tool_use_id }: UnknownFields,
): ToolEntry | undefined {
  return transcript.tasks.get(toText(task_id)) ?? transcript.tools.get(toText(tool_use_id));
}

function endTask(tool: ToolEntry | undefined, status: string, at: number | null): void {
  if (!tool?.task) return;
  tool.task.status = status;
  tool.revision += 1;
  if (status !== "running" && tool.task.isBackground) tool.endedAt ??= at;
}
