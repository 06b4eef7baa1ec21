import type { SourcePosition } from "../errors/problem.ts";

export interface ConfigValueView {
  path: string;
  value: unknown;
  /** Absent for default values. */
  from?: SourcePosition;
}

export interface ConfigView {
  fleet: ConfigValueView[];
  agents: { name: string; values: ConfigValueView[] }[];
}
