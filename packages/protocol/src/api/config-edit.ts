import type { Problem } from "../errors/problem.ts";

/** A new value at a path of an agent, such as `["schedules", "nightly", "cron"]`. */
export interface ConfigChange {
  path: string[];
  /** Without a value, the key is removed. */
  value?: unknown;
}

export interface ConfigEdit {
  /** The name of an agent, or of the one to add. */
  agent: string;
  /** Adds an agent to the fleet file. */
  create?: boolean;
  changes: ConfigChange[];
}

export interface ApplyEditOptions {
  /** The `fingerprint` of the preview. */
  fingerprint: string;
}

/** What an edit would write. */
export interface ConfigEditPreview {
  file: string;
  /** Identifies the content of the file. Applying the edit requires that it has not changed. */
  fingerprint: string;
  /** The changed lines with a few lines around them, and the number of the first. */
  first_line: number;
  before: string[];
  after: string[];
  /** Why the edit cannot be applied; empty if it can. */
  problems: Problem[];
  /** The next due times of the schedules that the edit changes, if it is valid. */
  next: { schedule: string; due_at: string[] }[];
}
