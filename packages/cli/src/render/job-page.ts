import type { Attempt, HookRun, Job, NodeView, WaitExplanation } from "@herdctl/protocol";
import { type Field, fieldLines } from "./field-lines.ts";
import { formatCost, formatDuration, formatSize } from "./format-amounts.ts";
import { hookLine } from "./hook-line.ts";
import { resumeHints } from "./job-end-lines.ts";
import { statusColor, statusMark, statusText } from "./job-status.ts";
import { sanitizeDeep, sanitizeText } from "./sanitize-text.ts";
import { toTerminalJson } from "./terminal-json.ts";
import type { TerminalStyle } from "./terminal-style.ts";

/** Everything recorded about a job. */
export function jobPageLines(
  rawJob: Job,
  attempts: Attempt[],
  hooks: HookRun[],
  style: TerminalStyle,
  node?: Pick<NodeView, "name" | "self">,
  wait?: WaitExplanation,
): string[] {
  const job = sanitizeDeep(rawJob);
  const { bold, yellow } = style.colors;
  const state = `${statusMark(job)} ${statusText(job)}`;
  const hint = job.outcome?.code === "success" ? undefined : job.outcome?.hint;
  const fields: Field[] = [
    ["outcome", [job.outcome?.message ?? [], hint ?? []].flat()],
    ["resets", job.outcome?.resets_at && formatTimestamp(job.outcome.resets_at)],
    ["waits", wait && sanitizeText(wait.text)],
    ["", wait?.command && style.colors.dim(sanitizeText(wait.command))],
    ["warnings", job.warnings.map((warning) => yellow(warning))],
    ["agent", job.agent],
    ["trigger", [job.trigger_type, job.schedule].filter(Boolean).join(" · ")],
    ["by", job.triggered_by],
    ["chain", chainText(job)],
    ["untrusted", job.untrusted ? "read text from outside the fleet" : null],
    ["waiting for", job.waits_for],
    ["key", job.idempotency_key],
    ["created", formatTimestamp(job.created_at)],
    ["started", formatTimestamp(job.started_at)],
    ["finished", formatTimestamp(job.finished_at)],
    ["took", job.duration_seconds === null ? null : formatDuration(job.duration_seconds)],
    ["cost", job.cost_usd === null ? null : formatCost(job.cost_usd)],
    ["tokens", tokenLines(job)],
    ["runtime", runtimeDetails(job)],
    ["node", node && sanitizeText(node.name)],
    ["session", job.session_id],
    ["resumed", job.resumed_from],
    ["forked from", job.forked_from],
    ["attempts", attempts.length > 1 ? attempts.map(attemptLine) : null],
    ["hooks", hooks.map((hook) => hookLine(hook, style))],
    ["metadata", job.metadata && JSON.stringify(job.metadata, null, 2)],
    ["files", job.artifacts.map(({ name, bytes }) => `${name} (${formatSize(bytes)})`)],
    ["commits", commitLines(job)],
    ["log", node?.self === false ? `herdctl logs ${job.id}` : job.output_file],
  ];
  return [
    `${bold(job.id)}  ${statusColor(job, style)(state)}`,
    ...fieldLines(fields, style),
    ...sectionLines("prompt", job.prompt, style),
    ...sectionLines("report", job.report === null ? null : toTerminalJson(job.report, 2), style),
    ...sectionLines("summary", job.summary, style),
    ...nextStepLines(job, style),
  ];
}

/** The commits of a run in a container, and the references that hold them. */
function commitLines({ git }: Job): string[] {
  if (git === null) return [];
  const { ref, commits, branch, other_refs } = git;
  const count = `${commits} ${commits === 1 ? "commit" : "commits"}`;
  return [
    ...(ref === null ? [] : [`${count} in ${ref}${branch === null ? "" : ` and ${branch}`}`]),
    ...other_refs,
  ];
}

/** The agents from the root of the chain to this job. */
function chainText({ chain, agent }: Job): string | null {
  if (chain.parent === null) return null;
  return `${[...chain.agents, agent].join(" → ")} (parent ${chain.parent}, root ${chain.id})`;
}

/** Not wrapped, so that the commands can be copied. */
function nextStepLines(job: Job, style: TerminalStyle): string[] {
  const hints = resumeHints(job);
  return hints.length === 0 ? [] : ["", ...fieldLines(hints, { ...style, width: undefined })];
}

function sectionLines(title: string, text: string | null, style: TerminalStyle): string[] {
  return text === null || text === "" ? [] : ["", ...fieldLines([[title, text]], style)];
}

function tokenLines({ usage }: Job): string[] {
  return Object.entries(usage?.models ?? {}).map(([model, modelUsage]) => {
    const cached = modelUsage.cache_read_input_tokens + modelUsage.cache_creation_input_tokens;
    const parts = [
      `${modelUsage.input_tokens.toLocaleString("en")} in`,
      `${modelUsage.output_tokens.toLocaleString("en")} out`,
      ...(cached > 0 ? [`${cached.toLocaleString("en")} cached`] : []),
    ];
    return `${model}: ${parts.join(", ")}`;
  });
}

function runtimeDetails({ session_home, claude_version, credential, provider }: Job): string {
  const program = claude_version && `Claude Code ${claude_version}`;
  const account = provider
    ? `${provider.type} with ${provider.credential}`
    : credential?.replace("_", " ");
  return [session_home, program, account].filter(Boolean).join(" · ");
}

function attemptLine({ number, outcome_code, cost_usd }: Attempt): string {
  const cost = cost_usd === null ? [] : [formatCost(cost_usd)];
  return [`${number}.`, outcome_code ?? "running", ...cost].join(" ");
}

function formatTimestamp(time: string | null): string | null {
  return time && new Date(time).toLocaleString("sv");
}
