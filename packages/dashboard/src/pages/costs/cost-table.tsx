import { Link } from "@tanstack/react-router";
import type { Answer } from "../../api/ask.ts";
import { countWords } from "../../ui/quantities.ts";
import { Share } from "../../ui/share.tsx";
import { Table, Td, Th } from "../../ui/table.tsx";
import { Money } from "../../ui/time.tsx";
import { type CostLine, colourOf, nameOf } from "./chart-series.ts";

interface CostTableProps {
  view: Answer<"costs">;
  by: string;
}

export function CostTable({ view: { lines, total }, by }: CostTableProps) {
  return (
    <Table label={`Costs by ${by}`}>
      <thead>
        <tr>
          <Th>{by === "schedule" ? "agent · schedule" : by}</Th>
          <Th className="text-right">cost</Th>
          <Th className="w-40">share</Th>
          <Th className="text-right">runs</Th>
          <Th className="text-right">a run</Th>
          <Th className="text-right">tokens in</Th>
          <Th className="text-right">out</Th>
          <Th className="text-right">from cache</Th>
        </tr>
      </thead>
      <tbody>
        {lines.map((line, place) => (
          <Row key={nameOf(line, by)} line={line} place={place} by={by} all={total.usd} />
        ))}
      </tbody>
    </Table>
  );
}

function Row({ line, place, by, all }: { line: CostLine; place: number; by: string; all: number }) {
  const share = all === 0 ? 0 : line.usd / all;
  return (
    <tr className="hover:bg-hover">
      <Td className="whitespace-nowrap">
        <span
          aria-hidden
          className={`mr-2 inline-block size-2 rounded-sm ${colourOf(place).dot}`}
        />
        <Name line={line} by={by} />
      </Td>
      <Td className="text-right font-medium">
        <Money usd={line.usd} />
      </Td>
      <Td>
        <Share label="share of all" value={share} />
      </Td>
      <Td className="text-right">{countWords(line.runs)}</Td>
      <Td className="text-right">
        <Money usd={line.runs === 0 ? null : line.usd / line.runs} />
      </Td>
      <Td className="text-right">
        {countWords(line.input_tokens + line.cache_creation_input_tokens)}
      </Td>
      <Td className="text-right">{countWords(line.output_tokens)}</Td>
      <Td className="text-right">{countWords(line.cache_read_input_tokens)}</Td>
    </tr>
  );
}

function Name({ line, by }: { line: CostLine; by: string }) {
  const words = nameOf(line, by);
  if (line.agent === null) return words;
  const { agent, schedule } = line;
  return (
    <Link
      to="/activity"
      search={{ agent, ...(schedule !== null && { schedule }) }}
      className="hover:underline"
    >
      {words}
    </Link>
  );
}
