import { useMemo } from "react";
import { useAnswer } from "../api/queries.ts";
import { places } from "./places.ts";

/** Those that this fleet has something to show at. */
export function usePlaces() {
  const isShared = useAnswer("status").data?.fleet.shared ?? false;
  return useMemo(() => places.filter(({ to }) => to !== "/nodes" || isShared), [isShared]);
}
