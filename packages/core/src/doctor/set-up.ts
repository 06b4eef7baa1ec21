import type { LoadedFleet } from "../config/load.ts";
import type { Problem } from "../document/problem.ts";

/** The fleet that doctor examines: none, one of another user that is not read, an invalid one, or a valid one. */
export type SetUp =
  | { kind: "none" }
  | { kind: "refused"; file: string; message: string; hint: string }
  | { kind: "wrong"; file: string; problems: readonly Problem[] }
  | { kind: "loaded"; loaded: LoadedFleet };
