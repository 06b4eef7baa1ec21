import { fileURLToPath } from "node:url";

/** An argument of the runner: it is to be ready for agents that run by the SDK. */
export const warmSdk = "--sdk";

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
