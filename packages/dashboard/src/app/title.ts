import { useEffect } from "react";
import { useAnswer } from "../api/queries.ts";

/** `(2) my-fleet · herdctl`: what waits for a person shows in the tab. */
export function useTitle(): void {
  const waiting = useAnswer("approvals").data?.approvals.length ?? 0;
  const name = useAnswer("status").data?.fleet.name;
  useEffect(() => {
    const words = name === undefined ? "herdctl" : `${name} · herdctl`;
    document.title = waiting === 0 ? words : `(${waiting}) ${words}`;
  }, [waiting, name]);
}
