import { useEffect } from "react";
import { useFleetQuery } from "../api/queries.ts";

/** Shows the number of open requests in the tab title: `(2) my-fleet · herdctl`. */
export function useTitle(): void {
  const waitingCount = useFleetQuery("approvals").data?.approvals.length ?? 0;
  const name = useFleetQuery("status").data?.fleet.name;
  useEffect(() => {
    const title = name === undefined ? "herdctl" : `${name} · herdctl`;
    document.title = waitingCount === 0 ? title : `(${waitingCount}) ${title}`;
  }, [waitingCount, name]);
}
