import { fileURLToPath } from "node:url";

/** Libraries that take a while to load, which a runner may be told to have ready by these arguments. */
export const librariesAhead = { sdk: "--sdk", docker: "--docker" } as const;
export type LibrariesAhead = Record<keyof typeof librariesAhead, boolean>;

/** What follows an assignment that was held: it is on record now. */
export const goWord = "go";

/** The built runner: beside us in a built package; the sources themselves cannot be run. */
export function runnerProgram(): string {
  const here = import.meta.url;
  const built = here.endsWith(".ts")
    ? "../../dist/runner-process/main.mjs"
    : "./runner-process/main.mjs";
  return fileURLToPath(new URL(built, here));
}
