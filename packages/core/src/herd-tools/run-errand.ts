import type { ErrandKind } from "../state/errand.ts";
import type { HerdDoors } from "./herd-doors.ts";
import { type HerdAnswer, refusal } from "./herd-tool.ts";

/** Has the fleet do what only it can; however long that takes, it is no silence of the agent. */
export async function runErrand(
  { errand, awaiting }: HerdDoors,
  kind: ErrandKind,
  input: Record<string, unknown>,
  signal: AbortSignal,
): Promise<HerdAnswer> {
  if (!errand) return refusal("Refused: this run is part of no fleet.");
  const answer = await awaiting(errand(kind, input, signal));
  return answer.kind === "done" ? { text: answer.text } : refusal(`Refused: ${answer.reason}`);
}
