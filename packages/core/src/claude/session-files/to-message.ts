import type { FileAssistantMessage, FileMessage, FileUserMessage } from "./message-types.ts";
import type { SessionLine } from "./session-line.ts";
import { blocksOf, type LineRole, syntheticModel } from "./session-line.ts";
import type { Subagent } from "./subagent-files.ts";

/** The stdout message for a line; undefined if stdout has none for it. */
export function toMessage(
  role: LineRole,
  line: SessionLine,
  subagent?: Subagent,
): FileMessage | undefined {
  const { uuid, sessionId } = line;
  if (uuid === undefined || sessionId === undefined) return undefined;
  return messageBuilders[role]?.(line, { uuid, session_id: sessionId }, subagent);
}

type MessageIds = { uuid: string; session_id: string };
type MessageBuilder = (
  line: SessionLine,
  ids: MessageIds,
  subagent?: Subagent,
) => FileMessage | undefined;

/** Roles without a builder do not appear on stdout. */
const messageBuilders: Partial<Record<LineRole, MessageBuilder>> = {
  assistant: assistantMessage,
  tool_result: toolResultMessage,
  interruption: (line, ids, subagent) => userMessage(line, ids, subagent),
  compact_summary: (line, ids) =>
    userMessage(line, ids, undefined, { isReplay: false, isSynthetic: true }),
  compact_boundary: (line, ids) => ({
    type: "system",
    subtype: "compact_boundary",
    ...ids,
    compact_metadata: toSnakeCase(line.compactMetadata),
  }),
  command_output: (line, ids) =>
    line.type === "user"
      ? userMessage(line, ids, undefined, { isReplay: true })
      : commandOutputMessage(line, ids),
};

function assistantMessage(line: SessionLine, ids: MessageIds, subagent?: Subagent) {
  if (line.message === undefined) return undefined;
  const message: FileAssistantMessage = {
    type: "assistant",
    message: line.message,
    ...parentFields(line, subagent),
    ...ids,
    timestamp: line.timestamp,
  };
  if (typeof line.error === "string") message.error = line.error;
  if (typeof line.requestId === "string") message.request_id = line.requestId;
  return message;
}

function toolResultMessage(line: SessionLine, ids: MessageIds, subagent?: Subagent) {
  const extra: Partial<FileUserMessage> = {};
  if (line.toolUseResult !== undefined) extra.tool_use_result = line.toolUseResult;
  const meta = resultMeta(line);
  if (meta !== undefined) {
    const results = blocksOf(line.message, "tool_result");
    extra.tool_result_meta = results.map((block) => ({ id: String(block.tool_use_id), ...meta }));
  }
  return userMessage(line, ids, subagent, extra);
}

/** 2.1.325 writes why a tool ran or did not. */
function resultMeta({ permissionDecision, toolDenialKind }: SessionLine) {
  if (permissionDecision === undefined && toolDenialKind === undefined) return undefined;
  return {
    ...(toolDenialKind === undefined ? {} : { non_execution_kind: toolDenialKind }),
    ...(permissionDecision === undefined
      ? {}
      : { permission_decision: toSnakeCase(permissionDecision) }),
  };
}

function userMessage(
  line: SessionLine,
  ids: MessageIds,
  subagent?: Subagent,
  extra: Partial<FileUserMessage> = {},
): FileUserMessage | undefined {
  if (line.message === undefined) return undefined;
  return {
    type: "user",
    message: line.message,
    ...parentFields(line, subagent),
    ...ids,
    timestamp: line.timestamp,
    ...extra,
  };
}

/** stdout shows the output of a local command as an assistant message. */
function commandOutputMessage(line: SessionLine, ids: MessageIds): FileMessage {
  const text = String(line.content ?? "").replace(/<\/?local-command-std(out|err)>/g, "");
  const message = { role: "assistant", model: syntheticModel, content: [{ type: "text", text }] };
  return {
    type: "assistant",
    message,
    parent_tool_use_id: null,
    ...ids,
    timestamp: line.timestamp,
  };
}

function parentFields(line: SessionLine, subagent?: Subagent) {
  if (!line.isSidechain) return { parent_tool_use_id: null };
  return {
    parent_tool_use_id: subagent?.toolUseId ?? null,
    subagent_type: subagent?.agentType,
    task_description: subagent?.description,
  };
}

function toSnakeCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toSnakeCase);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      toSnakeCase(inner),
    ]),
  );
}
