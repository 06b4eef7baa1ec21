import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { pnpm } from "./pnpm.mjs";
import { run } from "./run-program.mjs";

const root = resolve(import.meta.dirname, "..");

/** Packs every public package of the built checkout, with workspace versions resolved. */
export async function pack(folder) {
  mkdirSync(folder, { recursive: true });
  const [program, ...args] = pnpm;
  const filters = ["--filter", "./packages/*", "--filter", "!@herdctl/dashboard"];
  await run(program, [...args, "-r", ...filters, "pack", "--pack-destination", folder], {
    cwd: root,
  });
}
