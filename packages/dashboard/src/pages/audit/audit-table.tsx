import { escapeInvisible } from "@herdctl/server/contract";
import { Link } from "@tanstack/react-router";
import type { ResponseOfRoute } from "../../api/call-fleet.ts";
import { Badge } from "../../ui/badge.tsx";
import { Table, Td, Th } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { timeFormats } from "../../ui/time-formats.ts";

type AuditRecord = ResponseOfRoute<"audit">["records"][number];

interface AuditTableProps {
  records: readonly AuditRecord[];
}

/** A table on wide screens, a list on narrow ones. */
export function AuditTable({ records }: AuditTableProps) {
  return (
    <>
      <div className="hidden xl:block">
        <WideTable records={records} />
      </div>
      <ul aria-label="Audit log" className="xl:hidden">
        {records.map((record) => (
          <Item key={record.number} record={record} />
        ))}
      </ul>
    </>
  );
}

function WideTable({ records }: AuditTableProps) {
  return (
    <Table label="Audit log">
      <thead>
        <tr>
          <Th className="text-right">#</Th>
          <Th>Time</Th>
          <Th>Identity</Th>
          <Th>Origin</Th>
          <Th>Action</Th>
          <Th>Target</Th>
          <Th>Outcome</Th>
          <Th>Details</Th>
        </tr>
      </thead>
      <tbody>
        {records.map((record) => (
          <Row key={record.number} record={record} />
        ))}
      </tbody>
    </Table>
  );
}

const toneByOutcome = { ok: "ok", refused: "warn", failed: "bad" } as const;

function Row({ record }: { record: AuditRecord }) {
  const { number, time, identity, origin, action, target, hash } = record;
  return (
    <tr data-row className="align-baseline hover:bg-hover">
      <Td className="text-right text-sm text-muted" title={`hash ${hash}`}>
        {number}
      </Td>
      <Td className="text-sm whitespace-nowrap text-muted">
        <Time at={time} style={timeFormats.dayAndSecond} />
      </Td>
      <Td className="max-w-60 truncate font-medium" title={identity}>
        {identity}
      </Td>
      <Td className="text-sm whitespace-nowrap text-muted">{origin}</Td>
      <Td className="whitespace-nowrap">{action}</Td>
      <Td className="max-w-60 truncate" title={escapeInvisible(target ?? "")}>
        <Target record={record} />
      </Td>
      <Td>
        <Outcome record={record} />
      </Td>
      <Td className="w-full min-w-48 text-sm wrap-anywhere text-muted">{detailsText(record)}</Td>
    </tr>
  );
}

function Item({ record }: { record: AuditRecord }) {
  const { number, time, identity, origin, action, target, hash } = record;
  return (
    <li data-row className="border-b border-line px-3 py-1.5 wrap-anywhere last:border-b-0">
      <div className="flex items-start justify-between gap-3">
        <span className="font-medium">{identity}</span>
        <Outcome record={record} />
      </div>
      <div>
        {action} {target !== null && <Target record={record} />}
      </div>
      <div className="text-sm text-muted">
        <span title={`hash ${hash}`}>#{number}</span> ·{" "}
        <Time at={time} style={timeFormats.dayAndSecond} /> · from {origin}
      </div>
      <div className="text-sm text-muted">{detailsText(record)}</div>
    </li>
  );
}

function Outcome({ record: { outcome, error } }: { record: AuditRecord }) {
  return (
    <Badge tone={toneByOutcome[outcome]} title={error ?? undefined}>
      {outcome}
    </Badge>
  );
}

function Target({ record: { target } }: { record: AuditRecord }) {
  if (target === null) return <span className="text-muted">–</span>;
  if (!target.startsWith("job-")) return escapeInvisible(target);
  return (
    <Link to="/jobs/$jobId" params={{ jobId: target }} className="hover:underline">
      {escapeInvisible(target)}
    </Link>
  );
}

function detailsText({ error, details }: AuditRecord): string {
  const setFields = Object.entries(details).filter(([, value]) => value !== null);
  const parts = setFields.map(([key, value]) => `${key} ${value}`);
  return escapeInvisible([...(error === null ? [] : [error]), ...parts].join(" · "));
}
