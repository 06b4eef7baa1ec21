import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import { z } from "zod";
import type { RateLimit } from "../gateway/limits.ts";
import type { SpendLimit } from "../gateway/metering/decide-call.ts";
import type { OutcomeCode } from "../state/outcome.ts";
import type { ContainerSeen } from "./container/container-end.ts";
import { textOf } from "./job-event.ts";
import { droppedWarning } from "./runtime/output-gate.ts";
import type { ProcessExit } from "./runtime/spawn.ts";

/** Everything that was seen of a run; the outcome is decided from it and from nothing else. */
export interface Evidence {
  init?: { sessionId: string; model?: string; version?: string; synthesised: boolean };
  /** The last of the results; a run with background work has several. */
  result?: ResultSeen;
  denials: Denial[];
  /** The kind of the last API error that the binary named, and the status of its last retry. */
  apiError?: { kind?: string; status?: number | null };
  retries: number;
  /** The subscription's limit, as the binary tells it. */
  limit?: { rejected: boolean; resetsAt?: number };
  writesLost: boolean;
  /** A report was demanded of the run, and there is none. */
  reportMissing: boolean;
  /** Calls of the fleet's own tools that came to nothing; the first ones. */
  herdRefusals: { tool: string; reason: string }[];
  openTools: { id: string; tool: string }[];
  /** What the model said last, for the summary. */
  lastText: string;
  exit?: ProcessExit;
  stderr: string;
  /** Why we ended the run, if we did and it had not had its last word. */
  stopped?: StopReason;
  /** What kept the run from starting at all. */
  refused?: { code: OutcomeCode; message: string; hint?: string };
  /** The container of the run, when it had one. */
  container?: ContainerSeen;
  /** What the operator should know whatever the outcome. */
  warnings: string[];
  gateway?: {
    limit?: RateLimit;
    unreachable?: string;
    cut: boolean;
    /** The spending limit for which the last message call was refused. */
    overLimit?: SpendLimit;
  };
}

export type StopReason =
  | "cancelled"
  | "timeout"
  | "stalled"
  | "start_timeout"
  | "auth_failed"
  | "disk_full"
  | "interrupted";

export interface ResultSeen {
  subtype: string;
  isError: boolean;
  status?: number | null;
  text?: string;
  errors: string[];
  turns: number;
  costUsd?: number;
  modelUsage: Record<string, ModelUsageSeen>;
  synthesised: boolean;
}

export interface ModelUsageSeen {
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

export function noEvidence(): Evidence {
  return {
    denials: [],
    retries: 0,
    writesLost: false,
    reportMissing: false,
    herdRefusals: [],
    openTools: [],
    lastText: "",
    stderr: "",
    warnings: [],
  };
}

/** What one more message adds to what is known. Messages of kinds we do not know change nothing. */
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
  if (message.type === "system") return addDropped(addSystem(evidence, message), message);
  return evidence;
}

type Of<T extends SDKMessage["type"]> = Extract<SDKMessage, { type: T }>;

function addSystem(evidence: Evidence, message: Of<"system">): Evidence {
  if (message.subtype === "init") {
    const { session_id: sessionId, model, claude_code_version: version } = message;
    const synthesised = "herdctl_synthesised" in message;
    return { ...evidence, init: { sessionId, model, version, synthesised } };
  }
  if (message.subtype === "api_retry") {
    const apiError = { kind: message.error, status: message.error_status };
    return { ...evidence, retries: evidence.retries + 1, apiError };
  }
  if (message.subtype === "session_writes_lost") return { ...evidence, writesLost: true };
  if (message.subtype === "permission_denied") {
    return addDenials(evidence, [{ tool: message.tool_name, toolUseId: message.tool_use_id }]);
  }
  return evidence;
}

function addDropped(evidence: Evidence, message: unknown): Evidence {
  const warning = droppedWarning(message);
  return warning === undefined
    ? evidence
    : { ...evidence, warnings: [...evidence.warnings, warning].slice(0, mostWarnings) };
}

const mostWarnings = 100;

function addAssistant(evidence: Evidence, message: Of<"assistant">): Evidence {
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

function addToolResults(evidence: Evidence, message: Of<"user">): Evidence {
  const { content } = message.message;
  if (typeof content === "string" || evidence.openTools.length === 0) return evidence;
  const closed = new Set(
    content.flatMap((block) => (block.type === "tool_result" ? [block.tool_use_id] : [])),
  );
  const openTools = evidence.openTools.filter(({ id }) => !closed.has(id));
  const herdRefusals = [...evidence.herdRefusals, ...refusedByHerd(evidence, content)].slice(0, 20);
  // A stream names its denials in the result; a session file only at the tool's own result.
  const denied = evidence.init?.synthesised ? deniedTools(evidence, message) : [];
  return addDenials({ ...evidence, openTools, herdRefusals }, denied);
}

const herdPrefix = "mcp__herd__";

function refusedByHerd(
  { openTools }: Evidence,
  content: Exclude<Of<"user">["message"]["content"], string>,
): Evidence["herdRefusals"] {
  return content.flatMap((block) => {
    if (block.type !== "tool_result" || !block.is_error) return [];
    const { tool = "" } = openTools.find(({ id }) => id === block.tool_use_id) ?? {};
    if (!tool.startsWith(herdPrefix)) return [];
    return [{ tool: tool.slice(herdPrefix.length), reason: reasonOf(textOf(block.content)) }];
  });
}

/** On one line, without the tags that claude puts around its own words. */
function reasonOf(text: string): string {
  const words = text.replaceAll(/<\/?tool_use_error>/g, "").trim();
  return words.replaceAll(/\s*\n\s*/g, " ").slice(0, 300);
}

const resultMeta = z.looseObject({
  tool_result_meta: z.array(z.looseObject({ id: z.string(), non_execution_kind: z.string() })),
});
const notDenied = new Set(["cancelled", "interrupted"]);

function deniedTools(evidence: Evidence, message: Of<"user">): Denial[] {
  const meta = resultMeta.safeParse(message);
  const kinds = meta.success ? meta.data.tool_result_meta : [];
  return kinds
    .filter(({ non_execution_kind: kind }) => !notDenied.has(kind))
    .map(({ id }) => {
      const tool = evidence.openTools.find((open) => open.id === id)?.tool ?? "a tool";
      return { tool, toolUseId: id };
    });
}

function addResult(evidence: Evidence, message: Of<"result">): Evidence {
  const failed = message.subtype !== "success";
  const result: ResultSeen = {
    subtype: message.subtype,
    isError: message.is_error,
    status: "api_error_status" in message ? message.api_error_status : undefined,
    text: failed ? undefined : message.result,
    errors: failed ? (message.errors ?? []) : [],
    turns: message.num_turns,
    costUsd: message.total_cost_usd,
    modelUsage: message.modelUsage ?? {},
    synthesised: "herdctl_synthesised" in message,
  };
  const denied = message.permission_denials ?? [];
  const denials = denied.map((one) => ({ tool: one.tool_name, toolUseId: one.tool_use_id }));
  return addDenials({ ...evidence, result, openTools: [] }, denials);
}

function addDenials(evidence: Evidence, denials: Denial[]): Evidence {
  const known = new Set(evidence.denials.map((one) => one.toolUseId));
  const fresh = denials.filter((one) => !known.has(one.toolUseId));
  return fresh.length === 0 ? evidence : { ...evidence, denials: [...evidence.denials, ...fresh] };
}
