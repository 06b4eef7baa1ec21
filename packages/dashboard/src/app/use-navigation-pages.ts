import { useMemo } from "react";
import { useFleetQuery } from "../api/queries.ts";
import { pages } from "./navigation-pages.ts";

const adminPages: readonly string[] = ["/access", "/audit"];

/** Some pages are for admins only; Nodes appears only when several nodes share a store. */
export function useNavigationPages() {
  const isShared = useFleetQuery("status").data?.fleet.shared ?? false;
  const isAdmin = useFleetQuery("access").data?.scope === "admin";
  return useMemo(
    () =>
      pages.filter(({ to }) => {
        if (adminPages.includes(to)) return isAdmin;
        return to !== "/nodes" || isShared;
      }),
    [isShared, isAdmin],
  );
}
