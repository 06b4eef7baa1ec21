import type { ToolEntry } from "./entry.ts";
import { type Fields, fieldsOf, numberOf, textOf, textOrNull } from "./fields.ts";
import type { Fold, Story } from "./story.ts";

/** What Claude Code tells of itself. Kinds that say nothing to a reader stay in the raw events. */
export const system: Fold = (story, message, line) =>
  subtypes[textOf(message.subtype)]?.(story, message, line);

/** How much may still be used. Only when it may not, is it news. */
export const limit: Fold = (story, message, line) => {
  const { status, resetsAt } = fieldsOf(message.rate_limit_info);
  if (status !== "rejected") return;
  const until = numberOf(resetsAt);
  const when = until === null ? "" : ` until ${new Date(until * 1000).toISOString()}`;
  story.mark(line, null, { marker: "limit", text: `The limit is reached${when}`, isError: true });
};

/** What a tool of the fleet noted. What it answered stands with its call already. */
export const note: Fold = (story, message, line) => {
  const { tool, event, text } = message;
  if (event === "answered" || event === "refused") return;
  const words = [textOf(tool), textOf(event), textOf(text)].filter((word) => word !== "");
  if (words.length > 0) story.mark(line, null, { marker: "note", text: words.join(" · ") });
};

const subtypes: Record<string, Fold> = {
  init: (story, message, line) => {
    const { session_id, model, cwd, claude_code_version } = message;
    const isNews = story.sessionId !== session_id;
    story.sessionId = textOrNull(session_id);
    story.model = textOrNull(model);
    story.cwd = textOrNull(cwd);
    story.lane(null).last = line.at ?? story.lane(null).last;
    if (!isNews) return;
    const version = textOf(claude_code_version);
    const words = [textOf(model), version && `Claude Code ${version}`].filter(
      (word) => word !== "",
    );
    story.mark(line, null, { marker: "started", text: words.join(" · ") });
  },
  status: (story, { status }, line) => {
    const lane = story.lane(null);
    if (status === "requesting") lane.last = line.at ?? lane.last;
  },
  api_retry: (story, { attempt, max_retries, error_status, error, retry_delay_ms }, line) => {
    const why = [numberOf(error_status), textOf(error)].filter(Boolean).join(" ");
    const text = `Retry ${numberOf(attempt) ?? "?"} of ${numberOf(max_retries) ?? "?"}: ${why || "no answer"}`;
    const lastsMs = numberOf(retry_delay_ms);
    story.mark(line, null, { marker: "retry", text, lastsMs });
  },
  permission_denied: (story, { tool_use_id, tool_name, message }, line) => {
    const tool = story.tools.get(textOf(tool_use_id));
    const text = textOf(message);
    if (tool) {
      tool.denied = text;
      tool.revision += 1;
    } else
      story.mark(line, null, {
        marker: "denied",
        text: `${textOf(tool_name)}: ${text}`,
        isError: true,
      });
  },
  compact_boundary: (story, message, line) => {
    const before = numberOf(fieldsOf(message.compact_metadata).pre_tokens);
    const text =
      before === null ? "The conversation was compacted" : `${before} tokens were compacted`;
    story.mark(line, null, { marker: "compacted", text });
  },
  session_writes_lost: (story, _message, line) =>
    story.mark(line, null, {
      marker: "lost",
      text: "The transcript could not be written",
      isError: true,
    }),
  task_started: (story, message) => {
    const tool = story.tools.get(textOf(message.tool_use_id));
    if (!tool) return;
    const id = textOf(message.task_id);
    const isBackground =
      message.is_backgrounded !== false && tool.input.run_in_background !== false;
    tool.task = { id, isBackground, status: "running", doing: "", tokens: null };
    tool.revision += 1;
    story.tasks.set(id, tool);
  },
  task_progress: (story, message) => {
    const tool = taskOf(story, message);
    if (!tool?.task) return;
    tool.task.doing = textOf(message.description);
    tool.task.tokens = numberOf(fieldsOf(message.usage).total_tokens);
    tool.revision += 1;
  },
  task_updated: (story, message) => {
    const { status, end_time } = fieldsOf(message.patch);
    if (textOf(status) !== "") endTask(taskOf(story, message), textOf(status), numberOf(end_time));
  },
  task_notification: (story, message, line) => {
    const tool = taskOf(story, message);
    const status = textOf(message.status);
    endTask(tool, status, line.at);
    if (tool && !tool.task?.isBackground) return;
    const isError = status !== "completed";
    story.mark(line, null, { marker: "task", text: textOf(message.summary), isError });
  },
};

function taskOf(story: Story, { task_id, tool_use_id }: Fields): ToolEntry | undefined {
  return story.tasks.get(textOf(task_id)) ?? story.tools.get(textOf(tool_use_id));
}

function endTask(tool: ToolEntry | undefined, status: string, at: number | null): void {
  if (!tool?.task) return;
  tool.task.status = status;
  tool.revision += 1;
  if (status !== "running" && tool.task.isBackground) tool.endedAt ??= at;
}
