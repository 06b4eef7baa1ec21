import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { pnpm } from "./pnpm.mjs";
import { run } from "./run.mjs";

const root = resolve(import.meta.dirname, "..");

/** Packs every public package of the built checkout, with the ranges of the workspace written out. */
export async function pack(folder) {
  mkdirSync(folder, { recursive: true });
  const [program, ...args] = pnpm;
  const which = ["--filter", "./packages/*", "--filter", "!@herdctl/dashboard"];
  await run(program, [...args, "-r", ...which, "pack", "--pack-destination", folder], {
    cwd: root,
  });
}
