import { useMemo } from "react";
import { useAnswer } from "../api/queries.ts";
import { places } from "./places.ts";

/** Those that this fleet has something to show at. */
export function usePlaces() {
  const isShared = useAnswer("status").data?.fleet.shared ?? false;
  const isAdmin = useAnswer("access").data?.scope === "admin";
  return useMemo(
    () =>
      places.filter(({ to }) => {
        if (to === "/audit") return isAdmin;
        return to !== "/nodes" || isShared;
      }),
    [isShared, isAdmin],
  );
}
