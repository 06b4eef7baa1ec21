import type { Job } from "@herdctl/protocol";
import type { TestEngine } from "../support/docker-engine.ts";
import type { TestHarness } from "../support/harness.ts";

/** The observations of a finished fleet. */
export interface ObservedRun {
  harness: TestHarness;
  file: string;
  /** The acknowledged job of each trigger, by key. */
  accepted: Map<string, string>;
  /** The words that identify the task of a key in a prompt; by default `Do KEY.`. */
  taskText?: (key: string) => string;
  /** Converts a time of the fleet's clock to the model's clock, if they differ. */
  toModelTime?: (time: string) => string;
  /** Accepts ends other than success. */
  isAcceptedEnd?: (job: Job) => boolean;
  /** Every job has one hook, which appends its job id to this file in the fleet's folder. */
  hookFile?: string;
  /** The posted answers, one per trigger. */
  posts?: string[];
  /** The expected text of each post. */
  answerPattern?: RegExp;
  /** The address of a shared store and the fleet file of each node. */
  shared?: { store: string; files: string[] };
  /** The engine of the containers. */
  engine?: TestEngine;
  /** Strings that must not be readable anywhere. */
  secrets?: string[];
  /** Output that others could observe: process lists, containers, the fleet's output. */
  observedOutput?: string[];
}

/**
 * Lost: no end. Doubled: more than once. Left: still there. Secret: readable. Damaged: the state.
 */
export type ViolationKind = "lost" | "doubled" | "left" | "secret" | "damaged";

export interface Violation {
  kind: ViolationKind;
  text: string;
}

export function violations(kind: ViolationKind, texts: readonly string[]): Violation[] {
  return texts.map((text) => ({ kind, text }));
}
