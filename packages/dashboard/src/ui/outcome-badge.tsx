import type { Job } from "@herdctl/server/contract";
import { Badge } from "./badge.tsx";
import { jobLabel, jobTone, outcomeTone } from "./outcome-tone.ts";
import { sentenceCase } from "./sentence-case.ts";

export function OutcomeBadge({ job }: { job: Pick<Job, "status" | "outcome"> }) {
  const statusAndOutcome = { status: job.status, outcome: job.outcome?.code ?? null };
  return (
    <Badge tone={jobTone(statusAndOutcome)} title={job.outcome?.message}>
      <Dot isLive={job.status === "running"} />
      {jobLabel(statusAndOutcome)}
    </Badge>
  );
}

/** For places where only the outcome code is known. */
export function OutcomeCodeBadge({ code }: { code: string }) {
  return (
    <Badge tone={outcomeTone(code)}>
      <Dot />
      {sentenceCase(code)}
    </Badge>
  );
}

export function Dot({ isLive = false }: { isLive?: boolean }) {
  const motion = isLive ? "animate-pulse" : "";
  return <span aria-hidden className={`size-1.5 shrink-0 rounded-full bg-current ${motion}`} />;
}
