import { quickClaude as quickClaudeIn } from "../../bench/quick-claude.mjs";
import { folderWith } from "./folder.ts";

/** For tests of what a fleet does with very many jobs: the real one takes most of the time of a run. */
export function quickClaude(): string {
  return quickClaudeIn(folderWith({}));
}
