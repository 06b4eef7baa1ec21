import { Link } from "@tanstack/react-router";
import type { Answer } from "../../api/ask.ts";
import { Badge } from "../../ui/badge.tsx";
import { Table, Td, Th } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";

type AuditRecord = Answer<"audit">["records"][number];

export function AuditTable({ records }: { records: readonly AuditRecord[] }) {
  return (
    <Table label="Audit log">
      <thead>
        <tr>
          <Th className="text-right">#</Th>
          <Th>time</Th>
          <Th>identity</Th>
          <Th>from</Th>
          <Th>action</Th>
          <Th>target</Th>
          <Th>outcome</Th>
          <Th>details</Th>
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

const short = new Intl.DateTimeFormat(undefined, {
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
});

const tones = { ok: "ok", refused: "warn", failed: "bad" } as const;

function Row({ record }: { record: AuditRecord }) {
  const { number, time, identity, origin, action, outcome, error, hash } = record;
  return (
    <tr data-row className="hover:bg-hover">
      <Td className="text-right text-sm text-muted" title={`hash ${hash}`}>
        {number}
      </Td>
      <Td className="text-sm text-muted">
        <Time at={time} style={short} />
      </Td>
      <Td className="font-medium whitespace-nowrap">{identity}</Td>
      <Td className="text-sm whitespace-nowrap text-muted">{origin}</Td>
      <Td className="whitespace-nowrap">{action}</Td>
      <Td className="whitespace-nowrap">
        <Target record={record} />
      </Td>
      <Td>
        <Badge tone={tones[outcome]} title={error ?? undefined}>
          {outcome}
        </Badge>
      </Td>
      <Td
        className="max-w-60 truncate text-sm text-muted md:w-full md:max-w-0"
        title={detailsText(record)}
      >
        {detailsText(record)}
      </Td>
    </tr>
  );
}

function Target({ record: { target } }: { record: AuditRecord }) {
  if (target === null) return <span className="text-muted">–</span>;
  if (!target.startsWith("job-")) return target;
  return (
    <Link to="/jobs/$jobId" params={{ jobId: target }} className="hover:underline">
      {target}
    </Link>
  );
}

function detailsText({ error, details }: AuditRecord): string {
  const given = Object.entries(details).filter(([, value]) => value !== null);
  const words = given.map(([key, value]) => `${key} ${value}`);
  return [...(error === null ? [] : [error]), ...words].join(" · ");
}
