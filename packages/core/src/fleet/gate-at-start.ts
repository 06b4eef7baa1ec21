import type { ResolvedAgent } from "../config/resolve.ts";
import type { Job } from "../state/job.ts";
import { askGate } from "../triggers/gate.ts";
import { fillPrompt } from "../triggers/prompt-template.ts";
import type { FleetContext } from "./context.ts";
import { whenWritable } from "./when-writable.ts";

/**
 * What a delivery brought was admitted before its gate was asked, since its sender must not wait.
 * So it is asked now that the job is about to start. A fleet that dies meanwhile leaves the job
 * pending, and the next one asks again. When the signal comes first, the job stays as it is.
 */
export async function passGate(
  context: FleetContext,
  agent: ResolvedAgent,
  job: Job,
  signal: AbortSignal,
): Promise<Job> {
  const { gate } = agent.schedules[job.schedule ?? ""] ?? {};
  const isFirst = job.trigger_type === "webhook" && job.attempts === 0;
  if (!gate || !isFirst) return job;
  const answer = await askGate({
    gate,
    folder: agent.fleet_dir,
    environment: context.environment(),
    agent: agent.name,
    schedule: job.schedule ?? "",
    signal,
  });
  if (signal.aborted) return job;
  const change =
    answer.kind === "closed"
      ? { status: "skipped" as const, outcome: answer.outcome, due_at: null }
      : { prompt: fillPrompt(job.prompt, { gate: { output: answer.output } }) };
  return (await whenWritable(context, () => context.state.jobs.update(job.id, change))).job;
}
