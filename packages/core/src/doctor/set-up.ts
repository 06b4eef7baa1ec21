import type { LoadedFleet } from "../config/load.ts";
import type { Problem } from "../document/problem.ts";

/** What the doctor was brought to: no fleet, one that cannot be read, or one that can. */
export type SetUp =
  | { kind: "none" }
  | { kind: "wrong"; file: string; problems: readonly Problem[] }
  | { kind: "loaded"; loaded: LoadedFleet };
