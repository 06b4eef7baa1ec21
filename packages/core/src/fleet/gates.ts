import type { Candidate } from "../queue/admit.ts";
import { askGate } from "../triggers/gate.ts";
import { fillPrompt } from "../triggers/prompt-template.ts";
import type { FleetContext } from "./context.ts";

/**
 * A candidate whose schedule has a gate, with what the gate says to it. One that a delivery brings
 * does not pass here: its sender must not wait, and its gate is asked when the job is to start.
 */
export async function throughGate(
  { fleet, environment }: Pick<FleetContext, "fleet" | "environment">,
  candidate: Candidate,
  signal: AbortSignal = new AbortController().signal,
): Promise<Candidate> {
  const { request } = candidate;
  const agent = fleet().agents.find(({ name }) => name === request.agent);
  const { schedule: name } = request;
  const schedule = name === undefined ? undefined : agent?.schedules[name];
  if (!agent || name === undefined || !schedule?.gate) return candidate;
  if (candidate.delivery) return candidate;
  const answer = await askGate({
    gate: schedule.gate,
    folder: agent.fleet_dir,
    environment: environment(),
    agent: agent.name,
    schedule: name,
    signal,
  });
  if (answer.kind === "closed") return { ...candidate, gate: answer.outcome };
  if (request.prompt !== undefined || schedule.prompt === undefined) return candidate;
  const prompt = fillPrompt(schedule.prompt, { gate: { output: answer.output } });
  return { ...candidate, request: { ...request, prompt, expand: false } };
}
