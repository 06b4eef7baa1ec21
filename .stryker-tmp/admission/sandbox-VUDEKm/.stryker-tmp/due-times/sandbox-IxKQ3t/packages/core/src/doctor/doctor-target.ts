import type { LoadedFleet } from "@herdctl/config";
import type { Problem } from "@herdctl/protocol";

/** The fleet that the doctor checks: none, one of another user that is not read, an invalid or a valid one. */
export type DoctorTarget =
  | { kind: "none" }
  | { kind: "refused"; file: string; message: string; hint: string }
  | { kind: "wrong"; file: string; problems: readonly Problem[] }
  | { kind: "loaded"; loaded: LoadedFleet };
