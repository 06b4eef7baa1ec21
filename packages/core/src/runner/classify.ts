import type { Outcome, OutcomeCode } from "../state/outcome.ts";
import type { ContainerEnd } from "./container/container-end.ts";
import type { Evidence, ResultSeen } from "./evidence.ts";
import { outcomes } from "./outcomes.ts";
import { overLimit } from "./spend-plan.ts";

/**
 * What really happened. The order is the argument: what kept the run from starting, then what we
 * did to it ourselves, then what it said of its own end, and only then how its process ended.
 */
export function classify(evidence: Evidence): Outcome {
  const { refused, stopped, writesLost, result, container } = evidence;
  if (refused) return outcome(refused.code, refused.message, refused.hint);
  if (stopped !== undefined) return stoppedOutcome(evidence);
  if (evidence.exit?.failure !== undefined) return notStarted(evidence.exit.failure);
  if (writesLost)
    return outcome("disk_full", "The disk was full: the session's transcript is not whole.");
  if (evidence.gateway?.overLimit && !hasOwnEnd(result))
    return overLimit(evidence.gateway.overLimit);
  if (result) return fromResult(result, evidence);
  return fromContainer(container?.end, evidence) ?? withoutResult(evidence);
}

/** A run whose last call was refused ends with an API error, or without a result. */
function hasOwnEnd(result: ResultSeen | undefined): boolean {
  return result !== undefined && !(result.subtype === "success" && result.isError);
}

/** Undefined when the container did nothing but end with its program. */
function fromContainer(end: ContainerEnd | undefined, evidence: Evidence): Outcome | undefined {
  if (end?.kind === "removed")
    return outcome("interrupted", "The container was removed under the run.");
  if (end?.kind === "engine_restarted")
    return outcome("interrupted", "The Docker engine was restarted under the run.");
  if (end?.kind === "engine_gone")
    return outcome("docker_unavailable", "The Docker engine went away under the run.");
  if (end?.oomKilled) return outcome("oom_killed");
  const why = firstLine(evidence.stderr);
  if (end?.code === 125 && why) return outcome("config_error", why);
  if (end?.code === 126 || end?.code === 127) return outcome("runtime_missing", why, noClaude);
  return end?.code === 137
    ? outcome("runtime_crashed", "The container was ended by SIGKILL, and not by herdctl.")
    : undefined;
}

const noClaude = "The image has no `claude` that runs: build one with `herdctl docker build`.";

function stoppedOutcome(evidence: Evidence): Outcome {
  const code = evidence.stopped ?? "interrupted";
  if (code === "disk_full")
    return outcome(code, "The disk was almost full, so the run was stopped.", diskHint);
  if (code !== "auth_failed") return outcome(code);
  return outcome(
    code,
    `The API did not accept the credential (${evidence.apiError?.status ?? 401}).`,
  );
}

const diskHint = "Free some space, or lower `docker.min_free_disk`.";

function notStarted(failure: string): Outcome {
  if (failure === "ENOENT" || failure === "EACCES") return outcome("runtime_missing");
  return outcome("runtime_crashed", `The \`claude\` program could not be started (${failure}).`);
}

function fromResult(result: ResultSeen, evidence: Evidence): Outcome {
  if (result.subtype === "error_max_turns") return outcome("max_turns");
  if (result.subtype === "error_max_budget_usd")
    return outcome("budget_exceeded", "The run used up `max_budget_usd`.");
  if (result.subtype !== "success") return fromFailedResult(result, evidence);
  if (result.isError) return fromApiError(result, evidence);
  if (evidence.reportMissing) return withoutReport(evidence);
  if (evidence.denials.length > 0) {
    const tools = [...new Set(evidence.denials.map((one) => one.tool))].join(", ");
    return outcome("finished_with_denials", `The agent finished, but ${tools} was denied.`);
  }
  return outcome("success");
}

function withoutReport({ herdRefusals }: Evidence): Outcome {
  const refused = herdRefusals.findLast(({ tool }) => tool === "report");
  if (!refused) return outcome("report_missing");
  return outcome("report_missing", `No report of the agent was accepted. ${refused.reason}`);
}

function fromFailedResult(result: ResultSeen, evidence: Evidence): Outcome {
  const said = [...result.errors, evidence.stderr].join("\n");
  return spoken(said) ?? outcome("interrupted", firstLine(result.errors[0]) ?? undefined);
}

const kinds: Record<string, OutcomeCode> = {
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

function fromApiError(result: ResultSeen, evidence: Evidence): Outcome {
  const status = result.status ?? evidence.apiError?.status ?? undefined;
  const kind = evidence.apiError?.kind ?? "";
  const said = firstLine(result.text);
  if (/credit balance|billing/i.test(result.text ?? "")) return outcome("billing", said);
  if (status === 401 || status === 403)
    return outcome("auth_failed", `The API did not accept the credential (${status}).`);
  if (status === 402) return outcome("billing", said);
  if (status === 429 || kind === "rate_limit") return limited(evidence);
  if (status === 529 || status === 503)
    return outcome("overloaded", `The API is overloaded (${status}).`);
  if (status !== undefined && status >= 500)
    return outcome("overloaded", `The API failed (${status}).`);
  const known = kinds[kind];
  if (known) return outcome(known, said);
  if (status !== undefined && status >= 400) return outcome("config_error", said);
  return outcome("network", evidence.gateway?.cut ? "The API broke off its answer." : said);
}

/** A wait that the binary itself would sit out is a rate limit; a longer one is the end of an allowance. */
const longestShortWait = 60_000;

function limited(evidence: Evidence): Outcome {
  const seen = evidence.gateway?.limit;
  const resetsAt = evidence.limit?.resetsAt ?? seen?.resetsAt;
  const wait = seen?.retryAfterMs ?? 0;
  const isAllowance =
    evidence.limit?.rejected || seen?.unifiedStatus === "rejected" || wait > longestShortWait;
  const code = isAllowance ? "usage_limit" : "rate_limited";
  const resets_at = resetsAt === undefined ? undefined : new Date(resetsAt).toISOString();
  const when = resets_at ? ` It resets at ${resets_at}.` : "";
  return { ...outcome(code, `${outcomes[code].message}${when}`), ...(resets_at && { resets_at }) };
}

function withoutResult(evidence: Evidence): Outcome {
  const said = spoken(evidence.stderr);
  if (said) return said;
  const { exit } = evidence;
  if (exit?.signal) return outcome("runtime_crashed", `Claude Code was ended by ${exit.signal}.`);
  if (exit && exit.code !== 0) {
    const why = firstLine(evidence.stderr);
    return outcome(
      "runtime_crashed",
      `Claude Code ended with code ${exit.code} and no result${why ? `: ${why}` : "."}`,
    );
  }
  if (evidence.gateway?.unreachable)
    return outcome("network", `The API could not be reached (${evidence.gateway.unreachable}).`);
  return outcome("interrupted");
}

/** What the binary says in words only. */
const sayings: [pattern: RegExp, code: OutcomeCode, hint?: string][] = [
  [/No conversation found/i, "session_missing"],
  [/session id .* (is )?already in use/i, "session_busy"],
  [/not logged in|please run \/login|invalid api key/i, "auth_failed"],
  [
    /cannot be used with root|root\/sudo privileges/i,
    "config_error",
    "Run herdctl as an ordinary user, or set IS_SANDBOX=1 where the whole machine is a sandbox.",
  ],
  [
    /unknown option|unknown argument/i,
    "runtime_missing",
    "This `claude` is too old for herdctl: update Claude Code.",
  ],
  [/no space left|ENOSPC/i, "disk_full"],
];

function spoken(text: string): Outcome | undefined {
  const found = sayings.find(([pattern]) => pattern.test(text));
  if (!found) return undefined;
  const [pattern, code, hint] = found;
  const line = text.split("\n").find((one) => pattern.test(one));
  return outcome(code, firstLine(line), hint);
}

function outcome(code: OutcomeCode, message?: string, hint?: string): Outcome {
  const facts = outcomes[code];
  return { code, message: message || facts.message, hint: hint ?? facts.hint };
}

function firstLine(text: string | undefined): string | undefined {
  const line = text?.trim().split("\n")[0]?.slice(0, 300);
  return line === "" ? undefined : line;
}
