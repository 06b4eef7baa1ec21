import { join } from "node:path";
import { type LoadedFleet, loadFleet, type Problem, ProblemsError } from "@herdctl/core";
import { expect } from "vitest";
import { folderWith } from "./folder.ts";

/** Loads `herdctl.yaml` out of these files. */
export function load(files: Record<string, string>, env: Record<string, string> = {}): LoadedFleet {
  return loadFleet(join(folderWith(files), "herdctl.yaml"), env);
}

/** Everything wrong with these files; fails when nothing is. */
export function problemsOf(
  files: Record<string, string>,
  env: Record<string, string> = {},
): Problem[] {
  try {
    load(files, env);
  } catch (error) {
    if (error instanceof ProblemsError) return error.problems;
    throw error;
  }
  return expect.fail("the configuration was accepted");
}

export const fleetHead = "version: 1\nfleet: { name: test }\n";

/** A fleet file with one agent written into it. */
export function inlineAgent(yaml: string): Record<string, string> {
  const indented = yaml
    .trim()
    .split("\n")
    .map((line) => `    ${line}`)
    .join("\n");
  return { "herdctl.yaml": `${fleetHead}agents:\n  - name: one\n${indented}\n` };
}

export function agentOf(loaded: LoadedFleet, name: string) {
  const agent = loaded.fleet.agents.find((one) => one.name === name);
  return agent ?? expect.fail(`there is no agent ${name}`);
}
