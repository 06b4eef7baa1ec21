import type { Attempt, HookRun, Job, NodeView } from "@herdctl/core";
import { costText, durationText, sizeText } from "./amounts.ts";
import { resumeLines } from "./ending.ts";
import { type Field, fieldLines } from "./fields.ts";
import { harmless, harmlessAll } from "./harmless.ts";
import { hookLine } from "./hook-line.ts";
import { jsonText } from "./json-text.ts";
import type { Look } from "./look.ts";
import { statusColour, statusMark, statusWord } from "./status.ts";

/** All that is recorded of a job. */
export function jobPage(
  given: Job,
  attempts: Attempt[],
  hooks: HookRun[],
  look: Look,
  node?: Pick<NodeView, "name" | "here">,
): string[] {
  const job = harmlessAll(given);
  const { bold, yellow } = look.colors;
  const state = `${statusMark(job)} ${statusWord(job)}`;
  const hint = job.outcome?.code === "success" ? undefined : job.outcome?.hint;
  const fields: Field[] = [
    ["outcome", [job.outcome?.message ?? [], hint ?? []].flat()],
    ["resets", job.outcome?.resets_at],
    ["warnings", job.warnings.map((warning) => yellow(warning))],
    ["agent", job.agent],
    ["trigger", [job.trigger_type, job.schedule].filter(Boolean).join(" · ")],
    ["by", job.triggered_by],
    ["chain", chainText(job)],
    ["reads", job.untrusted ? "text from outside" : null],
    ["waits for", job.waits_for],
    ["key", job.idempotency_key],
    ["created", timeText(job.created_at)],
    ["started", timeText(job.started_at)],
    ["finished", timeText(job.finished_at)],
    ["took", job.duration_seconds === null ? null : durationText(job.duration_seconds)],
    ["cost", job.cost_usd === null ? null : costText(job.cost_usd)],
    ["tokens", tokenLines(job)],
    ["ran by", ranBy(job)],
    ["node", node && harmless(node.name)],
    ["session", job.session_id],
    ["resumed", job.resumed_from],
    ["forked from", job.forked_from],
    ["attempts", attempts.length > 1 ? attempts.map(attemptLine) : null],
    ["hooks", hooks.map((hook) => hookLine(hook, look))],
    ["metadata", job.metadata && JSON.stringify(job.metadata, null, 2)],
    ["files", job.artifacts.map(({ name, bytes }) => `${name} (${sizeText(bytes)})`)],
    ["commits", commitLines(job)],
    ["log", node?.here === false ? `herdctl logs ${job.id}` : job.output_file],
  ];
  return [
    `${bold(job.id)}  ${statusColour(job, look)(state)}`,
    ...fieldLines(fields, look),
    ...section("prompt", job.prompt, look),
    ...section("report", job.report === null ? null : jsonText(job.report, 2), look),
    ...section("summary", job.summary, look),
    ...section("resume", resumeLines(job).join("\n"), look),
  ];
}

/** What the run committed, and how it is taken over where the files are there already. */
function commitLines({ git }: Job): string[] {
  if (git === null) return [];
  const { ref, commits, branch, other_refs } = git;
  const count = `${commits} ${commits === 1 ? "commit" : "commits"}`;
  return [
    ...(ref === null ? [] : [`${count} in ${ref}${branch === null ? "" : ` and ${branch}`}`]),
    ...other_refs,
  ];
}

/** Its place among the jobs that agents gave each other. */
function chainText({ chain, agent }: Job): string | null {
  if (chain.parent === null) return null;
  return `${[...chain.agents, agent].join(" → ")} (from ${chain.parent}, of ${chain.id})`;
}

function section(title: string, text: string | null, look: Look): string[] {
  return text === null || text === "" ? [] : ["", ...fieldLines([[title, text]], look)];
}

function tokenLines({ usage }: Job): string[] {
  return Object.entries(usage?.models ?? {}).map(([model, used]) => {
    const cached = used.cache_read_input_tokens + used.cache_creation_input_tokens;
    const parts = [
      `${used.input_tokens.toLocaleString("en")} in`,
      `${used.output_tokens.toLocaleString("en")} out`,
      ...(cached > 0 ? [`${cached.toLocaleString("en")} cached`] : []),
    ];
    return `${model}: ${parts.join(", ")}`;
  });
}

function ranBy({ place, claude_version: version, credential }: Job): string {
  const program = version && `Claude Code ${version}`;
  return [place, program, credential?.replace("_", " ")].filter(Boolean).join(" · ");
}

function attemptLine({ number, outcome_code, cost_usd }: Attempt): string {
  const cost = cost_usd === null ? [] : [costText(cost_usd)];
  return [`${number}.`, outcome_code ?? "not over", ...cost].join(" ");
}

function timeText(time: string | null): string | null {
  return time && new Date(time).toLocaleString("sv");
}
