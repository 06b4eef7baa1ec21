import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { type Answer, ask } from "../../api/ask.ts";
import { usePages } from "../../api/pages.ts";
import { Badge } from "../../ui/badge.tsx";
import { Empty } from "../../ui/empty.tsx";
import { countWords } from "../../ui/quantities.ts";
import { Ago } from "../../ui/time.tsx";
import { DeliveryDialog } from "./delivery-dialog.tsx";
import { Filters } from "./filters.tsx";
import { PagedList } from "./paged-list.tsx";

const route = getRouteApi("/activity");

type Delivery = Answer<"deliveries">["deliveries"][number];

export function DeliveriesTab() {
  const { agent } = route.useSearch();
  const [opened, setOpened] = useState<string | null>(null);
  const query = { agent, limit: 100 };
  const pages = usePages<Answer<"deliveries">>("deliveries", query, (cursor, signal) =>
    ask("deliveries", { query: { ...query, cursor }, signal }),
  );
  const refused = pages.data?.pages[0]?.refused ?? [];
  return (
    <>
      <Filters offered={["agent"]} />
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
        empty={
          <Empty title="Nothing has come in">
            What webhooks deliver to schedules of the type <code>webhook</code> stands here.
          </Empty>
        }
      >
        {(delivery) => <DeliveryLine delivery={delivery} onOpen={setOpened} />}
      </PagedList>
      {opened && <DeliveryDialog id={opened} onClose={() => setOpened(null)} />}
    </>
  );
}

interface DeliveryLineProps {
  delivery: Delivery;
  onOpen(id: string): void;
}

function DeliveryLine({ delivery, onOpen }: DeliveryLineProps) {
  const { id, verdict, agent, schedule, event, reason, bytes, redeliveries } = delivery;
  return (
    <button
      data-row
      type="button"
      onClick={() => onOpen(id)}
      className="grid w-full grid-cols-[5.5rem_minmax(0,1fr)_auto] items-center gap-x-4 px-3 py-1.5 text-left hover:bg-hover md:grid-cols-[5.5rem_minmax(0,1fr)_minmax(0,1fr)_6rem_5rem]"
    >
      <span>
        <Badge tone={verdict === "accepted" ? "ok" : "idle"}>{verdict}</Badge>
      </span>
      <span className="truncate">
        {agent} · {schedule}
      </span>
      <span className="hidden truncate text-sm text-muted md:block">
        {event}
        {reason && ` – ${reason}`}
        {redeliveries > 0 && ` – came ${redeliveries + 1} times`}
      </span>
      <span className="hidden text-right text-sm text-muted md:block">{countWords(bytes)} B</span>
      <span className="text-right text-sm text-muted">
        <Ago at={delivery.received_at} />
      </span>
    </button>
  );
}
