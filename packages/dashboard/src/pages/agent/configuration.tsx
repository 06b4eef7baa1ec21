import type { ConfigValueView } from "@herdctl/server/contract";
import { SegmentedControl } from "../../ui/segmented-control.tsx";
import { Table, Td, Th } from "../../ui/table.tsx";

interface ConfigurationProps {
  values: ConfigValueView[];
  onlyExplicit: boolean;
  onChange(onlyExplicit: boolean): void;
}

const options = [
  { value: "all", title: "All values" },
  { value: "written", title: "Explicit values" },
];

export function Configuration({ values, onlyExplicit, onChange }: ConfigurationProps) {
  const shown = onlyExplicit ? values.filter(({ from }) => from !== undefined) : values;
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center gap-3">
        <SegmentedControl
          label="Values"
          value={onlyExplicit ? "written" : "all"}
          options={options}
          onChange={(value) => onChange(value === "written")}
        />
        <p className="text-sm text-muted">
          Secrets are masked. Values without a source file are herdctl's defaults.
        </p>
      </div>
      <div className="rounded-lg border border-line bg-surface">
        <ConfigTable values={shown} />
      </div>
    </>
  );
}

/** Configuration values with the place that sets each of them. */
export function ConfigTable({ values }: { values: ConfigValueView[] }) {
  return (
    <Table label="Configuration">
      <thead>
        <tr>
          <Th>Key</Th>
          <Th>Value</Th>
          <Th>Source</Th>
        </tr>
      </thead>
      <tbody>
        {values.map((value) => (
          <tr key={value.path} className="hover:bg-hover">
            <Td className="font-mono text-sm whitespace-nowrap">{value.path}</Td>
            <Td className="min-w-40 font-mono text-sm wrap-anywhere whitespace-pre-wrap">
              {formatValue(value.value)}
            </Td>
            <Td className="text-sm whitespace-nowrap text-muted">{originOf(value)}</Td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

function formatValue(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Shows only the last two path segments; the tooltip has the full path. */
function originOf({ from }: ConfigValueView) {
  if (!from) return "Default";
  const name = from.file.split("/").slice(-2).join("/");
  return (
    <span title={`${from.file}:${from.line}:${from.column}`} className="text-text">
      {name}:{from.line}
    </span>
  );
}
