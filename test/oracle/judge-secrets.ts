import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Story, type Wrong, wrongs } from "./story.ts";

/** No file of the state, of Claude Code or of the agent holds a secret, and nobody could see one. */
export function judgeSecrets(story: Story, stateDir: string): Wrong[] {
  const { on, secrets = [], glimpses = [] } = story;
  if (secrets.length === 0) return [];
  const holds = (text: string) => secrets.some((secret) => text.includes(secret));
  const folders = [stateDir, on.home, on.workspace, on.env.TMPDIR ?? ""];
  const files = folders.flatMap(filesBelow).filter((file) => holds(readFileSync(file, "latin1")));
  const seen = glimpses.filter(holds).map((text) => `seen: ${text.slice(0, 100)}`);
  return wrongs("secret", [...files, ...seen]);
}

function filesBelow(folder: string): string[] {
  if (folder === "" || !existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile());
}
