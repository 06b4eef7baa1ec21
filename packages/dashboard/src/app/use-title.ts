import { useLocation } from "@tanstack/react-router";
import { useEffect } from "react";
import { useFleetQuery } from "../api/queries.ts";
import { pages } from "./navigation-pages.ts";

/** The tab title, such as `(2) Inbox · my-fleet · herdctl`, with the number of open requests. */
export function useTitle(): void {
  const waitingCount = useFleetQuery("approvals").data?.approvals.length ?? 0;
  const fleetName = useFleetQuery("status").data?.fleet.name;
  const pageName = usePageName();
  useEffect(() => {
    const names = [pageName, fleetName, "herdctl"].filter((name) => name !== undefined);
    const count = waitingCount === 0 ? "" : `(${waitingCount}) `;
    document.title = `${count}${names.join(" · ")}`;
  }, [waitingCount, fleetName, pageName]);
}

/** Undefined on the fleet page, whose name is the fleet's. */
function usePageName(): string | undefined {
  const path = useLocation({ select: ({ pathname }) => pathname });
  const [, area, name] = path.split("/").map(decodeURIComponent);
  const isJob = area === "jobs" && name !== undefined;
  const job = useFleetQuery("job", { params: { id: name ?? "" } }, { enabled: isJob }).data?.job;
  if (isJob) return job ? `${job.agent}, ${name}` : name;
  if (area === "agents") return name;
  if (area === "new-agent") return "Add an agent";
  return pages.find(({ to }) => to === path && to !== "/")?.title;
}
