import type { Job } from "@herdctl/core";
import type { TestEngine } from "../support/engine.ts";
import type { Stage } from "../support/stage.ts";

/** What happened to a fleet that has stopped since, as far as those who did it know. */
export interface Story {
  on: Stage;
  file: string;
  /** By its key, the job that a trigger was acknowledged with. */
  accepted: Map<string, string>;
  /** By which words in a prompt the task of a key is known; `Do KEY.` where nothing is said. */
  task?: (key: string) => string;
  /** When it was by the model's clock at a time of the fleet's, where that is another. */
  truly?: (time: string) => string;
  /** Other ends than success that are right here. */
  mayEnd?: (job: Job) => boolean;
  /** Every job has one hook, which writes its job into this file of the fleet's folder. */
  hooked?: string;
  /** Posts that were made in answer, for each trigger one. */
  posts?: string[];
  /** What each of them says. */
  answer?: RegExp;
  /** Nodes that share a store: its address, and the fleet file of each. */
  shared?: { store: string; files: string[] };
  /** Where its containers are. */
  engine?: TestEngine;
  /** What nobody may find anywhere. */
  secrets?: string[];
  /** What others could see meanwhile: process lists, containers, what the fleet printed. */
  glimpses?: string[];
}

/** Lost: no end. Doubled: more than once. Left: still there. Secret: readable. Damaged: the state. */
export type WrongKind = "lost" | "doubled" | "left" | "secret" | "damaged";

export interface Wrong {
  kind: WrongKind;
  text: string;
}

export function wrongs(kind: WrongKind, texts: readonly string[]): Wrong[] {
  return texts.map((text) => ({ kind, text }));
}
