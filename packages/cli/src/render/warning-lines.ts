import { relative } from "node:path";
import type { LoadedFleet } from "@herdctl/config";
import { findRootProblems, findSignInProblems } from "@herdctl/core/internal";
import type { Terminal } from "../terminal.ts";

/** A problem that does not prevent a start, for people and for `--json`. */
export interface ConfigWarning {
  /** File, line and column, or the agents that are affected. */
  place: string;
  message: string;
  hint: string;
}

/** Warnings about the files, and agents that cannot sign in or start. */
export function listWarnings(loaded: LoadedFleet, cwd: string): ConfigWarning[] {
  const { fleet, environment, warnings } = loaded;
  return [
    ...warnings.map(({ file, line, column, path, message, hint }) => ({
      place: `${relative(cwd, file) || file}:${line}:${column}`,
      message: path === "" ? message : `${path}: ${message}`,
      hint,
    })),
    ...findSignInProblems(fleet.agents, environment).map(({ agents, message, hint }) => ({
      place: `${agents.length} of ${fleet.agents.length} agents cannot sign in (${agents.join(", ")})`,
      message,
      hint,
    })),
    ...findRootProblems(fleet.agents, environment).map(({ agents, message, hint }) => ({
      place: `${agents.length} of ${fleet.agents.length} agents cannot start (${agents.join(", ")})`,
      message,
      hint,
    })),
  ];
}

export function warningLines(
  warnings: readonly ConfigWarning[],
  { yellow, dim }: Terminal["colors"],
): string[] {
  return warnings.flatMap(({ place, message, hint }) => [
    `${yellow("!")} ${place}  ${message}`,
    `  ${dim(hint)}`,
  ]);
}
