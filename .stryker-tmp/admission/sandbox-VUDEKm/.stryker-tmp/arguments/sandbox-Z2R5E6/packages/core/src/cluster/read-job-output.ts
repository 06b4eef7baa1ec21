import type { Job } from "@herdctl/protocol";
import {
  type OutputLine,
  type ReadOutputOptions,
  readOutput,
} from "../store/files/output-reader.ts";
import type { StateManager } from "../store/state-manager.ts";
import { readNodeId } from "./node-identity.ts";
import { readShippedOutput } from "./shipped-output.ts";

/** Whether the files of a job are on another machine. */
export function ranOnOtherNode(
  { stateDir, shared }: Pick<StateManager, "stateDir" | "shared">,
  { node }: Pick<Job, "node">,
): boolean {
  return shared !== undefined && node !== null && node !== readNodeId(stateDir);
}

/** The log of a job while no fleet runs: its file, or the copy that its node put into the store. */
export function readJobOutput(
  state: StateManager,
  job: Job,
  options: ReadOutputOptions = {},
): AsyncIterable<OutputLine> {
  const { shared } = state;
  if (!shared || !ranOnOtherNode(state, job)) return readOutput(job.output_file, options);
  return readShippedOutput(shared.outputs, job.id, options, () => () => undefined);
}
