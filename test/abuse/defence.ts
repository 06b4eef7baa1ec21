import type { Edit } from "./edit.ts";

/** Something of the product that keeps an attacker out. */
export interface Defence {
  name: string;
  /** Against whom or what. */
  guards: string;
  /** How it is taken away, in a copy. */
  edit: Edit;
  /** The test that goes red then; part of its name is enough. */
  red: { file: string; test: string };
}
