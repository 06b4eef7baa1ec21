import { readFileSync, statSync } from "node:fs";
import { pathsBelow, unlessGone } from "../support/below.ts";
import { type Story, type Wrong, wrongs } from "./story.ts";

/** No file of the state, of Claude Code or of the agent holds a secret, and nobody could see one. */
export function judgeSecrets(story: Story, stateDir: string): Wrong[] {
  const { on, secrets = [], glimpses = [] } = story;
  if (secrets.length === 0) return [];
  const holds = (text: string) => secrets.some((secret) => text.includes(secret));
  const folders = [stateDir, on.home, on.workspace, on.env.TMPDIR ?? ""];
  const files = folders
    .flatMap(filesBelow)
    .filter((file) => holds(unlessGone(() => readFileSync(file, "latin1")) ?? ""));
  const seen = glimpses.filter(holds).map((text) => `seen: ${text.slice(0, 100)}`);
  return wrongs("secret", [...files, ...seen]);
}

function filesBelow(folder: string): string[] {
  if (folder === "") return [];
  return pathsBelow(folder).filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile());
}
