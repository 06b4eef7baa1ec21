import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import { contentText, type OutcomeCode } from "@herdctl/protocol";
import { z } from "zod";
import type { ContainerObservation } from "../../docker/container-manager.ts";
import type { SpendLimit } from "../contract/spend-limit.ts";
import type { RateLimit } from "../gateway/response-reader.ts";
import { formatDroppedWarning, type ProcessExit } from "../runtimes/spawn-claude.ts";
import { silentChangeWarning } from "./silent-changes.ts";

/** Everything observed about a run; the outcome is decided from it alone. */
export interface Evidence {
  init?: { sessionId: string; model?: string; version?: string; isSynthesised: boolean };
  /** The latest result; a run with background work has several. */
  result?: ResultEvidence;
  denials: Denial[];
  /** Tool calls that a person denied. */
  deniedByPerson: string[];
  /** Kind of the last API error that the binary reported, and status of its last retry. */
  apiError?: { kind?: string; status?: number | null };
  retries: number;
  /** The subscription's limit, as reported by the binary. */
  limit?: { rejected: boolean; resetsAt?: number };
  hasLostWrites: boolean;
  /** A report was required, and there is none. */
  isReportMissing: boolean;
  /** Refused calls of fleet tools (only the first ones). */
  toolRefusals: { tool: string; reason: string }[];
  openTools: { id: string; tool: string }[];
  /** The last text of the model, for the summary. */
  lastText: string;
  exit?: ProcessExit;
  stderr: string;
  /** Why herdctl stopped the run, if it did so before the final message. */
  stopped?: StopReason;
  /** Required MCP servers that did not start. */
  missingServers: string[];
  /** Why the run could not start. */
  refused?: { code: OutcomeCode; message: string; hint?: string };
  /** The container of the run, if it had one. */
  container?: ContainerObservation;
  /** Shown to the operator regardless of the outcome. */
  warnings: string[];
  gateway?: {
    limit?: RateLimit;
    unreachable?: string;
    cut: boolean;
    /** The spending limit for which the last message call was refused. */
    overLimit?: SpendLimit;
    /** Set if the calls went to a service other than the Anthropic API. */
    provider?: ProviderEvidence;
  };
}

/** What is known of a provider when its run has ended. */
export interface ProviderEvidence {
  /** `Amazon Bedrock`. */
  label: string;
  /** Where the credential came from. */
  credential: string;
  /** Why the last call could not be authenticated. */
  credentialProblem?: { message: string; hint?: string };
  /** The error of the last message call. */
  error?: { status: number; type?: string; message?: string };
}

export type StopReason =
  | "cancelled"
  | "timeout"
  | "stalled"
  | "start_timeout"
  | "auth_failed"
  | "disk_full"
  | "mcp_failed"
  | "interrupted";

export interface ResultEvidence {
  subtype: string;
  isError: boolean;
  status?: number | null;
  text?: string;
  errors: string[];
  turns: number;
  costUsd?: number;
  modelUsage: Record<string, ModelUsageTotals>;
  isSynthesised: boolean;
}

export interface ModelUsageTotals {
  inputTokens: number;
  outputTokens: number;
  cacheReadInputTokens: number;
  cacheCreationInputTokens: number;
  costUSD?: number;
}

interface Denial {
  tool: string;
  toolUseId: string;
}

export function emptyEvidence(): Evidence {
  return {
    denials: [],
    deniedByPerson: [],
    retries: 0,
    hasLostWrites: false,
    isReportMissing: false,
    toolRefusals: [],
    missingServers: [],
    openTools: [],
    lastText: "",
    stderr: "",
    warnings: [],
  };
}

/** Adds a message to the evidence. Unknown kinds of messages change nothing. */
export function addMessage(evidence: Evidence, message: SDKMessage): Evidence {
  if (message.type === "assistant") return addAssistant(evidence, message);
  if (message.type === "user") return addToolResults(evidence, message);
  if (message.type === "result") return addResult(evidence, message);
  if (message.type === "rate_limit_event") {
    const { status, resetsAt } = message.rate_limit_info;
    return {
      ...evidence,
      limit: { rejected: status === "rejected", resetsAt: resetsAt && resetsAt * 1000 },
    };
  }
  if (message.type === "system") return addWarning(addSystem(evidence, message), message);
  return evidence;
}

type MessageOf<T extends SDKMessage["type"]> = Extract<SDKMessage, { type: T }>;

function addSystem(evidence: Evidence, message: MessageOf<"system">): Evidence {
  if (message.subtype === "init") {
    const { session_id: sessionId, model, claude_code_version: version } = message;
    const isSynthesised = "herdctl_synthesised" in message;
    return { ...evidence, init: { sessionId, model, version, isSynthesised } };
  }
  if (message.subtype === "api_retry") {
    const apiError = { kind: message.error, status: message.error_status };
    return { ...evidence, retries: evidence.retries + 1, apiError };
  }
  if (message.subtype === "session_writes_lost") return { ...evidence, hasLostWrites: true };
  if (message.subtype === "permission_denied") {
    return addDenials(evidence, [{ tool: message.tool_name, toolUseId: message.tool_use_id }]);
  }
  return evidence;
}

function addWarning(evidence: Evidence, message: unknown): Evidence {
  const warning = formatDroppedWarning(message) ?? silentChangeWarning(message);
  return warning === undefined || evidence.warnings.includes(warning)
    ? evidence
    : { ...evidence, warnings: [...evidence.warnings, warning].slice(0, maxWarnings) };
}

const maxWarnings = 100;

function addAssistant(evidence: Evidence, message: MessageOf<"assistant">): Evidence {
  const isMain = message.parent_tool_use_id === null;
  const texts = message.message.content.flatMap((block) =>
    block.type === "text" ? [block.text] : [],
  );
  const tools = message.message.content.flatMap((block) =>
    block.type === "tool_use" ? [{ id: block.id, tool: block.name }] : [],
  );
  return {
    ...evidence,
    lastText: isMain && texts.length > 0 ? texts.join("\n") : evidence.lastText,
    openTools: [...evidence.openTools, ...tools],
    ...(message.error !== undefined && {
      apiError: { kind: message.error, status: evidence.apiError?.status },
    }),
  };
}

function addToolResults(evidence: Evidence, message: MessageOf<"user">): Evidence {
  const { content } = message.message;
  if (typeof content === "string" || evidence.openTools.length === 0) return evidence;
  const closed = new Set(
    content.flatMap((block) => (block.type === "tool_result" ? [block.tool_use_id] : [])),
  );
  const openTools = evidence.openTools.filter(({ id }) => !closed.has(id));
  const toolRefusals = [...evidence.toolRefusals, ...findToolRefusals(evidence, content)].slice(
    0,
    20,
  );
  // A stream lists denials in the result; a session file only has them in tool results.
  const denied = evidence.init?.isSynthesised ? deniedTools(evidence, message) : [];
  return addDenials({ ...evidence, openTools, toolRefusals }, denied);
}

const fleetToolPrefix = "mcp__herd__";

function findToolRefusals(
  { openTools }: Evidence,
  content: Exclude<MessageOf<"user">["message"]["content"], string>,
): Evidence["toolRefusals"] {
  return content.flatMap((block) => {
    if (block.type !== "tool_result" || !block.is_error) return [];
    const { tool = "" } = openTools.find(({ id }) => id === block.tool_use_id) ?? {};
    if (!tool.startsWith(fleetToolPrefix)) return [];
    return [
      {
        tool: tool.slice(fleetToolPrefix.length),
        reason: refusalReasonOf(contentText(block.content)),
      },
    ];
  });
}

/** The refusal as one line, without the tags that claude adds around its own messages. */
function refusalReasonOf(text: string): string {
  const message = text.replaceAll(/<\/?tool_use_error>/g, "").trim();
  return message.replaceAll(/\s*\n\s*/g, " ").slice(0, 300);
}

const toolResultMetaSchema = z.looseObject({
  tool_result_meta: z.array(z.looseObject({ id: z.string(), non_execution_kind: z.string() })),
});
const notDeniedKinds = new Set(["cancelled", "interrupted"]);

function deniedTools(evidence: Evidence, message: MessageOf<"user">): Denial[] {
  const meta = toolResultMetaSchema.safeParse(message);
  const kinds = meta.success ? meta.data.tool_result_meta : [];
  return kinds
    .filter(({ non_execution_kind: kind }) => !notDeniedKinds.has(kind))
    .map(({ id }) => {
      const tool = evidence.openTools.find((open) => open.id === id)?.tool ?? "a tool";
      return { tool, toolUseId: id };
    });
}

function addResult(evidence: Evidence, message: MessageOf<"result">): Evidence {
  const failed = message.subtype !== "success";
  const result: ResultEvidence = {
    subtype: message.subtype,
    isError: message.is_error,
    status: "api_error_status" in message ? message.api_error_status : undefined,
    text: failed ? undefined : message.result,
    errors: failed ? (message.errors ?? []) : [],
    turns: message.num_turns,
    costUsd: message.total_cost_usd,
    modelUsage: message.modelUsage ?? {},
    isSynthesised: "herdctl_synthesised" in message,
  };
  const denied = message.permission_denials ?? [];
  const denials = denied.map(({ tool_name, tool_use_id }) => ({
    tool: tool_name,
    toolUseId: tool_use_id,
  }));
  return addDenials({ ...evidence, result, openTools: [] }, denials);
}

function addDenials(evidence: Evidence, denials: Denial[]): Evidence {
  const known = new Set(evidence.denials.map(({ toolUseId }) => toolUseId));
  const fresh = denials.filter(({ toolUseId }) => !known.has(toolUseId));
  return fresh.length === 0 ? evidence : { ...evidence, denials: [...evidence.denials, ...fresh] };
}
