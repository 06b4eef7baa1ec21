import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { callFleet, type ResponseOfRoute } from "../../api/call-fleet.ts";
import { usePages } from "../../api/use-pages.ts";
import { Badge } from "../../ui/badge.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { formatBytes } from "../../ui/format-quantities.ts";
import { sentenceCase } from "../../ui/sentence-case.ts";
import { RelativeTime } from "../../ui/time.tsx";
import { ActivityFilters } from "./activity-filters.tsx";
import { DeliveryDialog } from "./delivery-dialog.tsx";
import { PagedList } from "./paged-list.tsx";

const route = getRouteApi("/activity");

type Delivery = ResponseOfRoute<"deliveries">["deliveries"][number];

export function DeliveriesTab() {
  const { agent } = route.useSearch();
  const [openedId, setOpened] = useState<string | null>(null);
  const query = { agent, limit: 100 };
  const pages = usePages<ResponseOfRoute<"deliveries">>("deliveries", query, (cursor, signal) =>
    callFleet("deliveries", { query: { ...query, cursor }, signal }),
  );
  const refused = pages.data?.pages[0]?.refused ?? [];
  return (
    <>
      <ActivityFilters availableFilters={["agent"]} />
      {refused.length > 0 && (
        <p className="mb-3 text-sm text-warn">
          Refused since the fleet started:{" "}
          {refused
            .map(({ reason, count }) => `${reason.replaceAll("_", " ")} (${count})`)
            .join(", ")}
        </p>
      )}
      <PagedList
        label="Deliveries"
        pages={pages}
        items={pages.data?.pages.flatMap(({ deliveries }) => deliveries)}
        keyOf={({ id }) => id}
        lineHeight={37}
        header={<DeliveryHeader />}
        empty={
          <EmptyState title="No deliveries yet">
            Deliveries to schedules of type <code>webhook</code> appear here.
          </EmptyState>
        }
      >
        {(delivery) => <DeliveryLine delivery={delivery} onOpen={setOpened} />}
      </PagedList>
      {openedId && <DeliveryDialog id={openedId} onClose={() => setOpened(null)} />}
    </>
  );
}

const columnsClass =
  "grid w-full grid-cols-[5.5rem_minmax(0,1fr)_auto] items-center gap-x-4 px-3 py-1.5 text-left md:grid-cols-[5.5rem_minmax(0,1fr)_minmax(0,1fr)_6rem_7rem]";

function DeliveryHeader() {
  return (
    <div className={`${columnsClass} text-sm font-medium text-muted max-md:hidden`}>
      <span>Status</span>
      <span>Agent and schedule</span>
      <span>Event</span>
      <span className="text-right">Size</span>
      <span className="text-right">Received</span>
    </div>
  );
}

interface DeliveryLineProps {
  delivery: Delivery;
  onOpen(id: string): void;
}

function DeliveryLine({ delivery, onOpen }: DeliveryLineProps) {
  const { id, status, agent, schedule, event, reason, bytes, redeliveries } = delivery;
  return (
    <button
      data-row
      type="button"
      onClick={() => onOpen(id)}
      className={`${columnsClass} hover:bg-hover`}
    >
      <span>
        <Badge tone={status === "accepted" ? "ok" : "idle"}>{sentenceCase(status)}</Badge>
      </span>
      <span className="truncate">
        {agent} · {schedule}
      </span>
      <span className="hidden truncate text-sm text-muted md:block">
        {event}
        {reason && ` – ${reason}`}
        {redeliveries > 0 && ` – received ${redeliveries + 1} times`}
      </span>
      <span className="hidden text-right text-sm text-muted md:block">{formatBytes(bytes)}</span>
      <span className="text-right text-sm text-muted">
        <RelativeTime at={delivery.received_at} />
      </span>
    </button>
  );
}
