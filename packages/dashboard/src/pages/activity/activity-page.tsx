import { getRouteApi } from "@tanstack/react-router";
import { PageHeader } from "../../ui/page-header.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { TriggerButton } from "../trigger/trigger-button.tsx";
import { DeliveriesTab } from "./deliveries-tab.tsx";
import { DueTimesTab } from "./due-times-tab.tsx";
import { HooksTab } from "./hooks-tab.tsx";
import { JobsTab } from "./jobs-tab.tsx";

const route = getRouteApi("/activity");

export function ActivityPage() {
  const { tab = "jobs", agent } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <>
      <PageHeader
        title="Activity"
        note="Jobs, webhook deliveries, due times and hooks of all agents"
        actions={<TriggerButton agent={agent} />}
      />
      <Tabs
        label="Activity"
        value={tab}
        onChange={(next) => navigate({ search: (current) => ({ ...current, tab: next }) })}
        tabs={[
          { value: "jobs", title: "Jobs", content: <JobsTab /> },
          { value: "deliveries", title: "Deliveries", content: <DeliveriesTab /> },
          { value: "due", title: "Due times", content: <DueTimesTab /> },
          { value: "hooks", title: "Hooks", content: <HooksTab /> },
        ]}
      />
    </>
  );
}
