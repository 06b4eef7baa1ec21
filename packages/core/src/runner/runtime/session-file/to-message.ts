import { blocksOf } from "./details.ts";
import type { SessionLine } from "./line.ts";
import type { FileAssistantMessage, FileMessage, FileUserMessage } from "./message.ts";
import { type Role, syntheticModel } from "./role.ts";
import type { Subagent } from "./subagents.ts";

/** The message of stdout that a line stands for, if stdout shows it at all. */
export function messageOf(
  role: Role,
  line: SessionLine,
  subagent?: Subagent,
): FileMessage | undefined {
  const { uuid, sessionId } = line;
  if (uuid === undefined || sessionId === undefined) return undefined;
  return makers[role]?.(line, { uuid, session_id: sessionId }, subagent);
}

type Identity = { uuid: string; session_id: string };
type Maker = (line: SessionLine, who: Identity, subagent?: Subagent) => FileMessage | undefined;

/** A role without a maker is not on stdout either. */
const makers: Partial<Record<Role, Maker>> = {
  assistant: assistantMessage,
  tool_result: toolResultMessage,
  interruption: (line, who, subagent) => userMessage(line, who, subagent),
  compact_summary: (line, who) =>
    userMessage(line, who, undefined, { isReplay: false, isSynthetic: true }),
  compact_boundary: (line, who) => ({
    type: "system",
    subtype: "compact_boundary",
    ...who,
    compact_metadata: snakeCased(line.compactMetadata),
  }),
  command_output: (line, who) =>
    line.type === "user"
      ? userMessage(line, who, undefined, { isReplay: true })
      : commandOutputMessage(line, who),
};

function assistantMessage(line: SessionLine, who: Identity, subagent?: Subagent) {
  if (line.message === undefined) return undefined;
  const message: FileAssistantMessage = {
    type: "assistant",
    message: line.message,
    ...speaker(line, subagent),
    ...who,
    timestamp: line.timestamp,
  };
  if (typeof line.error === "string") message.error = line.error;
  if (typeof line.requestId === "string") message.request_id = line.requestId;
  return message;
}

function toolResultMessage(line: SessionLine, who: Identity, subagent?: Subagent) {
  const extra: Partial<FileUserMessage> = {};
  if (line.toolUseResult !== undefined) extra.tool_use_result = line.toolUseResult;
  const meta = resultMeta(line);
  if (meta !== undefined) {
    const results = blocksOf(line.message, "tool_result");
    extra.tool_result_meta = results.map((block) => ({ id: String(block.tool_use_id), ...meta }));
  }
  return userMessage(line, who, subagent, extra);
}

/** 325 writes why a tool ran or did not. */
function resultMeta({ permissionDecision, toolDenialKind }: SessionLine) {
  if (permissionDecision === undefined && toolDenialKind === undefined) return undefined;
  return {
    ...(toolDenialKind === undefined ? {} : { non_execution_kind: toolDenialKind }),
    ...(permissionDecision === undefined
      ? {}
      : { permission_decision: snakeCased(permissionDecision) }),
  };
}

function userMessage(
  line: SessionLine,
  who: Identity,
  subagent?: Subagent,
  extra: Partial<FileUserMessage> = {},
): FileUserMessage | undefined {
  if (line.message === undefined) return undefined;
  return {
    type: "user",
    message: line.message,
    ...speaker(line, subagent),
    ...who,
    timestamp: line.timestamp,
    ...extra,
  };
}

/** stdout shows what a command of the terminal printed as the assistant's words. */
function commandOutputMessage(line: SessionLine, who: Identity): FileMessage {
  const text = String(line.content ?? "").replace(/<\/?local-command-std(out|err)>/g, "");
  const message = { role: "assistant", model: syntheticModel, content: [{ type: "text", text }] };
  return {
    type: "assistant",
    message,
    parent_tool_use_id: null,
    ...who,
    timestamp: line.timestamp,
  };
}

function speaker(line: SessionLine, subagent?: Subagent) {
  if (!line.isSidechain) return { parent_tool_use_id: null };
  return {
    parent_tool_use_id: subagent?.toolUseId ?? null,
    subagent_type: subagent?.agentType,
    task_description: subagent?.description,
  };
}

function snakeCased(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeCased);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      snakeCased(inner),
    ]),
  );
}
