import { join } from "node:path";
import { type LoadedFleet, loadFleet } from "@herdctl/config";
import { type Problem, ProblemsError } from "@herdctl/protocol";
import { expect } from "vitest";
import { tempFolderWith } from "./temp-folder.ts";

/** Loads `herdctl.yaml` from these files. */
export function loadTestFleet(
  files: Record<string, string>,
  env: Record<string, string> = {},
): LoadedFleet {
  return loadFleet(join(tempFolderWith(files), "herdctl.yaml"), env);
}

/** The problems of these files; fails when there are none. */
export function configProblems(
  files: Record<string, string>,
  env: Record<string, string> = {},
): Problem[] {
  try {
    loadTestFleet(files, env);
  } catch (error) {
    if (error instanceof ProblemsError) return error.problems;
    throw error;
  }
  return expect.fail("the configuration was accepted");
}

export const fleetHeader = "version: 1\nfleet: { name: test }\n";

/** A fleet file with one inline agent. */
export function inlineAgent(yaml: string): Record<string, string> {
  const indented = yaml
    .trim()
    .split("\n")
    .map((line) => `    ${line}`)
    .join("\n");
  return { "herdctl.yaml": `${fleetHeader}agents:\n  - name: one\n${indented}\n` };
}

export function agentOf(loaded: LoadedFleet, name: string) {
  const agent = loaded.fleet.agents.find((one) => one.name === name);
  return agent ?? expect.fail(`there is no agent ${name}`);
}
