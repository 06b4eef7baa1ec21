import type { Job } from "@herdctl/server/contract";
import { Badge } from "./badge.tsx";
import { toneOf, toneOfCode, wordOf } from "./outcome.ts";

export function OutcomeBadge({ job }: { job: Pick<Job, "status" | "outcome"> }) {
  const facts = { status: job.status, outcome: job.outcome?.code ?? null };
  return (
    <Badge tone={toneOf(facts)} title={job.outcome?.message}>
      <Dot isLive={job.status === "running"} />
      {wordOf(facts)}
    </Badge>
  );
}

/** Where only the code of an outcome is known. */
export function OutcomeCodeBadge({ code }: { code: string }) {
  return (
    <Badge tone={toneOfCode(code)}>
      <Dot />
      {code.replaceAll("_", " ")}
    </Badge>
  );
}

export function Dot({ isLive = false }: { isLive?: boolean }) {
  const motion = isLive ? "animate-pulse" : "";
  return <span aria-hidden className={`size-1.5 shrink-0 rounded-full bg-current ${motion}`} />;
}
