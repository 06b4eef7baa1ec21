import { Link } from "@tanstack/react-router";
import type { ResponseOfRoute } from "../../api/call-fleet.ts";
import { formatCount } from "../../ui/format-quantities.ts";
import { Meter } from "../../ui/meter.tsx";
import { sentenceCase } from "../../ui/sentence-case.ts";
import { Table, Td, Th } from "../../ui/table.tsx";
import { Money } from "../../ui/time.tsx";
import { type CostLine, colourAt, lineLabel } from "./chart-series.ts";

interface CostTableProps {
  view: ResponseOfRoute<"costs">;
  by: string;
}

export function CostTable({ view: { rows: lines, total }, by }: CostTableProps) {
  return (
    <Table label={`Costs by ${by}`}>
      <thead>
        <tr>
          <Th>{by === "schedule" ? "Agent · Schedule" : sentenceCase(by)}</Th>
          <Th className="text-right">Cost</Th>
          <Th className="w-40">Share</Th>
          <Th className="text-right">Runs</Th>
          <Th className="text-right">Cost per run</Th>
          <Th className="text-right">Input tokens</Th>
          <Th className="text-right">Output tokens</Th>
          <Th className="text-right">Cache reads</Th>
        </tr>
      </thead>
      <tbody>
        {lines.map((line, index) => (
          <Row key={lineLabel(line, by)} {...{ line, index, by }} totalUsd={total.usd} />
        ))}
      </tbody>
    </Table>
  );
}

interface RowProps {
  line: CostLine;
  index: number;
  by: string;
  totalUsd: number;
}

function Row({ line, index, by, totalUsd }: RowProps) {
  const share = totalUsd === 0 ? 0 : line.usd / totalUsd;
  return (
    <tr className="hover:bg-hover">
      <Td className="whitespace-nowrap">
        <span
          aria-hidden
          className={`mr-2 inline-block size-2 rounded-sm ${colourAt(index).dot}`}
        />
        <Name line={line} by={by} />
      </Td>
      <Td className="text-right font-medium">
        <Money usd={line.usd} />
      </Td>
      <Td>
        <Meter label="Share of total cost" value={share} />
      </Td>
      <Td className="text-right">{formatCount(line.runs)}</Td>
      <Td className="text-right">
        <Money usd={line.runs === 0 ? null : line.usd / line.runs} />
      </Td>
      <Td className="text-right">
        {formatCount(line.input_tokens + line.cache_creation_input_tokens)}
      </Td>
      <Td className="text-right">{formatCount(line.output_tokens)}</Td>
      <Td className="text-right">{formatCount(line.cache_read_input_tokens)}</Td>
    </tr>
  );
}

function Name({ line, by }: { line: CostLine; by: string }) {
  const label = lineLabel(line, by);
  if (line.agent === null) return label;
  const { agent, schedule } = line;
  return (
    <Link
      to="/activity"
      search={{ agent, ...(schedule !== null && { schedule }) }}
      className="hover:underline"
    >
      {label}
    </Link>
  );
}
