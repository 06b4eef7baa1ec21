import type { Job } from "@herdctl/core";
import { costText } from "./amounts.ts";
import { harmlessAll } from "./harmless.ts";
import type { Look } from "./look.ts";
import { statusColour, statusMark, statusWord } from "./status.ts";

/** Jobs under the jobs that gave them, and what all of them cost. */
export function chainLines(given: Job[], look: Look): string[] {
  const jobs = harmlessAll(given);
  const known = new Set(jobs.map(({ id }) => id));
  // The first one may have been removed with age.
  const roots = jobs.filter(({ chain }) => chain.parent === null || !known.has(chain.parent));
  const cost = jobs.reduce((sum, { cost_usd }) => sum + (cost_usd ?? 0), 0);
  const ran = jobs.filter(({ status }) => status !== "skipped").length;
  const { dim } = look.colors;
  return [
    ...roots.flatMap((root) => branch(root, jobs, look, "", "")),
    dim(`${ran} ${ran === 1 ? "job" : "jobs"}, ${costText(cost)}`),
  ];
}

function branch(job: Job, jobs: Job[], look: Look, head: string, rest: string): string[] {
  const children = jobs.filter(({ chain }) => chain.parent === job.id);
  const below = children.flatMap((child, index) => {
    const isLast = index === children.length - 1;
    return branch(
      child,
      jobs,
      look,
      `${rest}${isLast ? "└─ " : "├─ "}`,
      `${rest}${isLast ? "   " : "│  "}`,
    );
  });
  return [`${look.colors.dim(head)}${jobText(job, look)}`, ...below];
}

function jobText(job: Job, look: Look): string {
  const { bold, dim } = look.colors;
  const state = statusColour(job, look)(`${statusMark(job)} ${statusWord(job)}`);
  const cost = job.cost_usd === null ? [] : [costText(job.cost_usd)];
  const why = job.status === "skipped" ? [dim(job.outcome?.message ?? "")] : [];
  return [bold(job.agent), dim(job.id), state, ...cost, ...why].join("  ");
}
