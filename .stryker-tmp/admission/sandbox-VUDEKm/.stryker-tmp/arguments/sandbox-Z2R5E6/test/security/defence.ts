import type { SourceEdit } from "./source-edit.ts";

/** Code that blocks an attack, and the edit that removes it in a copy. */
export interface Defence extends SourceEdit {
  name: string;
  /** The attacker or the attack. */
  protects: string;
  /** The test that fails without the defence; a part of its name is enough. */
  failingTest: { file: string; test: string };
}
