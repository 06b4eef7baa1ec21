import type { Job } from "@herdctl/protocol";
import { formatCost } from "./format-amounts.ts";
import { statusColor, statusMark, statusText } from "./job-status.ts";
import { sanitizeDeep } from "./sanitize-text.ts";
import type { TerminalStyle } from "./terminal-style.ts";

/** The tree of delegated jobs, and their number and total cost. */
export function chainLines(rawJobs: Job[], style: TerminalStyle): string[] {
  const jobs = sanitizeDeep(rawJobs);
  const jobIds = new Set(jobs.map(({ id }) => id));
  // The root job may have been removed by retention.
  const roots = jobs.filter(({ chain }) => chain.parent === null || !jobIds.has(chain.parent));
  const cost = jobs.reduce((sum, { cost_usd }) => sum + (cost_usd ?? 0), 0);
  const runCount = jobs.filter(({ status }) => status !== "skipped").length;
  const { dim } = style.colors;
  return [
    ...roots.flatMap((root) => branchLines(root, jobs, style, "", "")),
    dim(`${runCount} ${runCount === 1 ? "job" : "jobs"}, ${formatCost(cost)}`),
  ];
}

function branchLines(
  job: Job,
  jobs: Job[],
  style: TerminalStyle,
  firstPrefix: string,
  nextPrefix: string,
): string[] {
  const children = jobs.filter(({ chain }) => chain.parent === job.id);
  const below = children.flatMap((child, index) => {
    const isLast = index === children.length - 1;
    return branchLines(
      child,
      jobs,
      style,
      `${nextPrefix}${isLast ? "└─ " : "├─ "}`,
      `${nextPrefix}${isLast ? "   " : "│  "}`,
    );
  });
  return [`${style.colors.dim(firstPrefix)}${jobText(job, style)}`, ...below];
}

function jobText(job: Job, style: TerminalStyle): string {
  const { bold, dim } = style.colors;
  const state = statusColor(job, style)(`${statusMark(job)} ${statusText(job)}`);
  const cost = job.cost_usd === null ? [] : [formatCost(job.cost_usd)];
  const reason = job.status === "skipped" ? [dim(job.outcome?.message ?? "")] : [];
  return [bold(job.agent), dim(job.id), state, ...cost, ...reason].join("  ");
}
