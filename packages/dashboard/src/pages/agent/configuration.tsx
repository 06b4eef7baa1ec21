import type { ShownValue } from "@herdctl/server/contract";
import { Choice } from "../../ui/choice.tsx";
import { Table, Td, Th } from "../../ui/table.tsx";

interface ConfigurationProps {
  values: ShownValue[];
  onlyWritten: boolean;
  onChange(onlyWritten: boolean): void;
}

const options = [
  { value: "all", title: "All values" },
  { value: "written", title: "Only what is written" },
];

export function Configuration({ values, onlyWritten, onChange }: ConfigurationProps) {
  const shown = onlyWritten ? values.filter(({ from }) => from !== undefined) : values;
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center gap-3">
        <Choice
          label="Which values"
          value={onlyWritten ? "written" : "all"}
          options={options}
          onChange={(value) => onChange(value === "written")}
        />
        <p className="text-sm text-muted">
          Secrets are masked. What is written nowhere is a default of herdctl.
        </p>
      </div>
      <div className="rounded-lg border border-line bg-surface">
        <Table label="Configuration">
          <thead>
            <tr>
              <Th>Key</Th>
              <Th>Value</Th>
              <Th>From</Th>
            </tr>
          </thead>
          <tbody>
            {shown.map((value) => (
              <tr key={value.path} className="hover:bg-hover">
                <Td className="font-mono text-sm whitespace-nowrap">{value.path}</Td>
                <Td className="min-w-40 font-mono text-sm wrap-anywhere whitespace-pre-wrap">
                  {wordOf(value.value)}
                </Td>
                <Td className="text-sm whitespace-nowrap text-muted">{originOf(value)}</Td>
              </tr>
            ))}
          </tbody>
        </Table>
      </div>
    </>
  );
}

function wordOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The file by its last two names: whole paths say where the fleet lies, which is known. */
function originOf({ from }: ShownValue) {
  if (!from) return "default";
  const name = from.file.split("/").slice(-2).join("/");
  return (
    <span title={`${from.file}:${from.line}:${from.column}`} className="text-text">
      {name}:{from.line}
    </span>
  );
}
