import type { Job } from "../../state/job.ts";
import { type OutputLine, type ReadOptions, readOutput } from "../../state/output-reader.ts";
import type { StateManager } from "../../state/state-manager.ts";
import { knownNodeId } from "./known-node.ts";
import { readShipped } from "./shipped-output.ts";

/** Whether its files lie on another machine. */
export function ranElsewhere(
  { stateDir, shared }: Pick<StateManager, "stateDir" | "shared">,
  { node }: Pick<Job, "node">,
): boolean {
  return shared !== undefined && node !== null && node !== knownNodeId(stateDir);
}

/** The log of a job where no fleet runs: its file, or what its node has put into the store. */
export function readLog(
  state: StateManager,
  job: Job,
  options: ReadOptions = {},
): AsyncIterable<OutputLine> {
  const { shared } = state;
  if (!shared || !ranElsewhere(state, job)) return readOutput(job.output_file, options);
  return readShipped(shared.outputs, job.id, options, () => () => undefined);
}
