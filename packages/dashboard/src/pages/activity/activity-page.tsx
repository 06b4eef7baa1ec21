import { getRouteApi } from "@tanstack/react-router";
import { PageHead } from "../../ui/page-head.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { TriggerButton } from "../trigger/trigger-button.tsx";
import { DeliveriesTab } from "./deliveries-tab.tsx";
import { DueTab } from "./due-tab.tsx";
import { JobsTab } from "./jobs-tab.tsx";

const route = getRouteApi("/activity");

export function ActivityPage() {
  const { tab = "jobs", agent } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <>
      <PageHead
        title="Activity"
        note="What ran and runs, of all agents; what came in by webhooks; what became of due times"
        actions={<TriggerButton agent={agent} />}
      />
      <Tabs
        label="Kinds of activity"
        value={tab}
        onChange={(next) => navigate({ search: (now) => ({ ...now, tab: next }) })}
        tabs={[
          { value: "jobs", title: "Jobs", content: <JobsTab /> },
          { value: "deliveries", title: "Deliveries", content: <DeliveriesTab /> },
          { value: "due", title: "Due times", content: <DueTab /> },
        ]}
      />
    </>
  );
}
