import {
  type ErrorCode,
  hasErrorCode,
  type Outcome,
  type OutcomeCode,
  outcomes,
  UserError,
} from "@herdctl/protocol";
import type { ContainerEnd } from "../../docker/container-manager.ts";
import { CallbackError } from "../contract/errors.ts";
import { budgetExceededOutcome } from "../contract/run-order.ts";
import type { Evidence, ResultEvidence } from "./evidence.ts";
import { classifyProviderError } from "./provider-errors.ts";

/**
 * Decides the outcome of a run. The order matters: first the reason why the run could not start, then
 * why herdctl stopped it, then the result that claude reported, and last how its process ended.
 */
export function classifyOutcome(evidence: Evidence): Outcome {
  const { refused, stopped, hasLostWrites, result, container } = evidence;
  if (refused) return buildOutcome(refused.code, refused.message, refused.hint);
  if (stopped !== undefined) return stoppedOutcome(evidence);
  if (evidence.exit?.failure !== undefined) return fromStartFailure(evidence.exit.failure);
  if (hasLostWrites)
    return buildOutcome("disk_full", "The disk was full: the session's transcript is incomplete.");
  // defence: no-retry-over-budget
  if (evidence.gateway?.overLimit && !hasOwnOutcome(result))
    return budgetExceededOutcome(evidence.gateway.overLimit);
  if (result) return fromResult(result, evidence);
  return fromContainer(container?.end, evidence) ?? fromProcessEnd(evidence);
}

/** A run whose last call was refused ends with an API error or without a result. */
function hasOwnOutcome(result: ResultEvidence | undefined): boolean {
  return result !== undefined && !(result.subtype === "success" && result.isError);
}

/** Undefined if the end of the container says no more than the exit of its program. */
function fromContainer(end: ContainerEnd | undefined, evidence: Evidence): Outcome | undefined {
  if (end?.kind === "removed")
    return buildOutcome("interrupted", "The container was removed during the run.");
  if (end?.kind === "engine_restarted")
    return buildOutcome("interrupted", "The Docker engine was restarted during the run.");
  if (end?.kind === "engine_gone")
    return buildOutcome("docker_unavailable", "The Docker engine stopped during the run.");
  if (end?.oomKilled) return buildOutcome("oom_killed");
  const why = firstLine(evidence.stderr);
  if (end?.code === 125 && why) return buildOutcome("config_error", why);
  if (end?.code === 126 || end?.code === 127)
    return buildOutcome("runtime_missing", why, noClaudeHint);
  return end?.code === 137
    ? buildOutcome("runtime_crashed", "The container was killed by SIGKILL, not by herdctl.")
    : undefined;
}

const noClaudeHint = "The image has no working `claude`. Build one with `herdctl docker build`.";

function stoppedOutcome(evidence: Evidence): Outcome {
  const code = evidence.stopped ?? "interrupted";
  if (code === "disk_full")
    return buildOutcome(code, "The disk was almost full, so the run was stopped.", diskHint);
  if (code === "mcp_failed") return missingServersOutcome(evidence.missingServers);
  if (code !== "auth_failed") return buildOutcome(code);
  const byProvider = classifyProviderError(evidence.gateway?.provider);
  if (byProvider) return byProvider;
  return buildOutcome(
    code,
    `The API rejected the credential (${evidence.apiError?.status ?? 401}).`,
  );
}

function missingServersOutcome(servers: readonly string[]): Outcome {
  const names = servers.map((name) => `\`${name}\``).join(", ");
  return buildOutcome(
    "mcp_failed",
    servers.length === 1
      ? `The MCP server ${names} is not available.`
      : `The MCP servers ${names} are not available.`,
  );
}

const diskHint = "Free some space, or lower `docker.min_free_disk`.";

function fromStartFailure(failure: string): Outcome {
  if (failure === "ENOENT" || failure === "EACCES") return buildOutcome("runtime_missing");
  return buildOutcome(
    "runtime_crashed",
    `The \`claude\` program could not be started (${failure}).`,
  );
}

function fromResult(result: ResultEvidence, evidence: Evidence): Outcome {
  if (result.subtype === "error_max_turns") return buildOutcome("max_turns");
  if (result.subtype === "error_max_budget_usd")
    return buildOutcome("budget_exceeded", "The job used up `max_budget_usd`.");
  if (result.subtype === "error_max_structured_output_retries")
    return buildOutcome("report_missing", invalidOutputMessage, invalidOutputHint);
  if (result.subtype !== "success") return fromFailedResult(result, evidence);
  if (result.isError) return fromApiError(result, evidence);
  if (evidence.isReportMissing) return missingReportOutcome(evidence);
  if (evidence.denials.length > 0) {
    const tools = [...new Set(evidence.denials.map(({ tool }) => tool))].join(", ");
    const isByPerson = evidence.denials.every(({ toolUseId }) =>
      evidence.deniedByPerson.includes(toolUseId),
    );
    return isByPerson
      ? buildOutcome(
          "finished_with_denials",
          `The agent finished, but you denied ${tools}.`,
          byPersonHint,
        )
      : buildOutcome("finished_with_denials", `The agent finished, but ${tools} was denied.`);
  }
  return buildOutcome("success");
}

const byPersonHint = "Nothing to do. Retry the job if you want to decide again.";
const invalidOutputMessage =
  "The agent's structured output did not match its schema in five tries.";
const invalidOutputHint = "Describe the output in the prompt, or change its schema.";

function missingReportOutcome({ toolRefusals }: Evidence): Outcome {
  const refused = toolRefusals.findLast(({ tool }) => tool === "report");
  if (!refused) return buildOutcome("report_missing");
  return buildOutcome("report_missing", `The agent's report was not accepted. ${refused.reason}`);
}

function fromFailedResult(result: ResultEvidence, evidence: Evidence): Outcome {
  const text = [...result.errors, evidence.stderr].join("\n");
  return (
    fromErrorText(text) ?? buildOutcome("interrupted", firstLine(result.errors[0]) ?? undefined)
  );
}

const outcomeByErrorKind: Record<string, OutcomeCode> = {
  authentication_failed: "auth_failed",
  oauth_org_not_allowed: "auth_failed",
  account_on_hold: "auth_failed",
  verification_required: "auth_failed",
  cloud_credential_error: "auth_failed",
  billing_error: "billing",
  overloaded: "overloaded",
  model_not_found: "config_error",
  invalid_request: "config_error",
};

function fromApiError(result: ResultEvidence, evidence: Evidence): Outcome {
  const status = result.status ?? evidence.apiError?.status ?? undefined;
  const kind = evidence.apiError?.kind ?? "";
  const message = firstLine(result.text);
  const byProvider = classifyProviderError(evidence.gateway?.provider);
  if (byProvider) return byProvider;
  if (/credit balance|billing/i.test(result.text ?? "")) return buildOutcome("billing", message);
  if (status === 401 || status === 403)
    return buildOutcome("auth_failed", `The API rejected the credential (${status}).`);
  if (status === 402) return buildOutcome("billing", message);
  if (status === 429 || kind === "rate_limit") return fromRateLimit(evidence);
  if (status === 529 || status === 503)
    return buildOutcome("overloaded", `The API is overloaded (${status}).`);
  if (status !== undefined && status >= 500)
    return buildOutcome("overloaded", `The API failed (${status}).`);
  const known = outcomeByErrorKind[kind];
  if (known) return buildOutcome(known, message);
  if (status !== undefined && status >= 400) return buildOutcome("config_error", message);
  return buildOutcome("network", evidence.gateway?.cut ? "The API cut off its response." : message);
}

/** The binary waits out a rate limit this short itself; a longer wait means a usage limit. */
const maxRateLimitWaitMs = 60_000;

function fromRateLimit(evidence: Evidence): Outcome {
  const gatewayLimit = evidence.gateway?.limit;
  const resetsAt = evidence.limit?.resetsAt ?? gatewayLimit?.resetsAt;
  const waitMs = gatewayLimit?.retryAfterMs ?? 0;
  const isUsageLimit =
    evidence.limit?.rejected ||
    gatewayLimit?.unifiedStatus === "rejected" ||
    waitMs > maxRateLimitWaitMs;
  const code = isUsageLimit ? "usage_limit" : "rate_limited";
  const resets_at = resetsAt === undefined ? undefined : new Date(resetsAt).toISOString();
  const when = resetsAt === undefined ? "" : ` It resets at ${formatLocalTime(resetsAt)}.`;
  return {
    ...buildOutcome(code, `${outcomes[code].message}${when}`),
    ...(resets_at && { resets_at }),
  };
}

/** In the time zone of the fleet: `2026-03-01 15:00 GMT+1`. */
function formatLocalTime(time: number): string {
  const date = new Date(time);
  const zone = date.toLocaleTimeString("en", { timeZoneName: "short" }).split(" ").at(-1);
  return `${date.toLocaleString("sv", { dateStyle: "short", timeStyle: "short" })} ${zone}`;
}

function fromProcessEnd(evidence: Evidence): Outcome {
  const fromStderr = fromErrorText(evidence.stderr);
  if (fromStderr) return fromStderr;
  const { exit } = evidence;
  if (exit?.signal)
    return buildOutcome("runtime_crashed", `Claude Code was killed by ${exit.signal}.`);
  if (exit && exit.code !== 0) {
    const why = firstLine(evidence.stderr);
    return buildOutcome(
      "runtime_crashed",
      `Claude Code exited with code ${exit.code} and without a result${why ? `: ${why}` : "."}`,
    );
  }
  if (evidence.gateway?.unreachable)
    return buildOutcome(
      "network",
      `The API could not be reached (${evidence.gateway.unreachable}).`,
    );
  return buildOutcome("interrupted");
}

/** Errors that the binary only reports as text. */
const errorTextPatterns: [pattern: RegExp, code: OutcomeCode, hint?: string][] = [
  [/No conversation found/i, "session_missing"],
  [/session id .* (is )?already in use/i, "session_busy"],
  [/not logged in|please run \/login|invalid api key/i, "auth_failed"],
  [
    /cannot be used with root|root\/sudo privileges/i,
    "config_error",
    "Run herdctl as an ordinary user, or set IS_SANDBOX=1 if the whole machine is a sandbox.",
  ],
  [
    /unknown option|unknown argument/i,
    "runtime_missing",
    "This `claude` is too old for herdctl. Update Claude Code.",
  ],
  [
    /sandbox required but unavailable/i,
    "config_error",
    "Install bubblewrap and socat: `sudo apt-get install bubblewrap socat`. `herdctl doctor` checks them.",
  ],
  [/no space left|ENOSPC/i, "disk_full"],
];

function fromErrorText(text: string): Outcome | undefined {
  const found = errorTextPatterns.find(([pattern]) => pattern.test(text));
  if (!found) return undefined;
  const [pattern, code, hint] = found;
  const matchingLine = text.split("\n").find((line) => pattern.test(line));
  return buildOutcome(code, firstLine(matchingLine), hint);
}

function buildOutcome(code: OutcomeCode, message?: string, hint?: string): Outcome {
  const facts = outcomes[code];
  return { code, message: message || facts.message, hint: hint ?? facts.hint };
}

function firstLine(text: string | undefined): string | undefined {
  const line = text?.trim().split("\n")[0]?.slice(0, 300);
  return line === "" ? undefined : line;
}

/** Why a run could not start, or what ended it unexpectedly. */
export function toRefusal(error: unknown): NonNullable<Evidence["refused"]> {
  if (error instanceof UserError) {
    const code = outcomeByErrorCode[error.code] ?? "config_error";
    return { code, message: error.message, hint: error.hint };
  }
  if (hasErrorCode(error, "ENOSPC", "EDQUOT"))
    return { code: "disk_full", message: "The disk is full: the job's log could not be written." };
  if (error instanceof CallbackError)
    return { code: "interrupted", message: error.message, hint: "Correct the calling program." };
  const message = error instanceof Error ? error.message : String(error);
  return { code: "runtime_crashed", message: `The runtime failed: ${message}`, hint: crashHint };
}

const crashHint = "Correct the options of the agent that the message names, or update herdctl.";

/** Other error codes map to `config_error`. */
const outcomeByErrorCode: Partial<Record<ErrorCode, OutcomeCode>> = {
  sdk_missing: "runtime_missing",
  settings_rejected: "config_error",
  options_rejected: "config_error",
  docker_denied: "docker_denied",
  docker_unavailable: "docker_unavailable",
  image_missing: "image_missing",
  disk_full: "disk_full",
  workspace_unusable: "workspace_missing",
};
