import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { extract } from "tar-stream";
import type { RuntimeInterface } from "../../runner/runtime/interface.ts";
import { ContainedProgram } from "./contained-program.ts";
import type { Listeners } from "./listeners.ts";
import { type Observed, readObserved } from "./observed.ts";
import { type Found, type Secret, searchIn } from "./search.ts";

/** Carries out a program in the agent's container, to its end. */
export type RunInside = (program: RuntimeInterface) => Promise<void>;

/** What the container is, and what of the world it reaches. */
export async function probe(
  run: RunInside,
  { word, sealed, listeners }: { word: string; sealed: boolean; listeners: Listeners },
): Promise<Observed> {
  const { port, addresses } = listeners;
  const args = [word, sealed ? "closed" : "open", String(port), ...addresses];
  let said = "";
  await run(
    new ContainedProgram(script("probe.sh"), args, async (stdout) => {
      said = await text(stdout);
    }),
  );
  return readObserved(said);
}

/** Whatever its user can read there, searched out here: no secret is brought in to be looked for. */
export async function searchFiles(
  run: RunInside,
  secrets: readonly Secret[],
): Promise<{ found: Found[]; files: number }> {
  const found: Found[] = [];
  let files = 0;
  const read = async (stdout: Readable) => {
    const archive = extract();
    stdout.pipe(archive);
    for await (const entry of archive) {
      files += 1;
      found.push(...searchIn(`/${entry.header.name}`, await buffer(entry), secrets));
    }
  };
  await run(new ContainedProgram(script("pack-files.sh"), [], read));
  return { found, files };
}

function script(name: string): string {
  const manifest = createRequire(import.meta.url).resolve("@herdctl/core/package.json");
  return readFileSync(join(dirname(manifest), "self-test", name), "utf8");
}
