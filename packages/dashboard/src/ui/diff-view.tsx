import { classNames } from "./class-names.ts";

interface DiffViewProps {
  label: string;
  hunks: readonly { oldStart: number; newStart: number; lines: readonly string[] }[];
}

const classBySign: Record<string, string> = { "+": "bg-ok-soft", "-": "bg-bad-soft" };

/** A unified diff with old and new line numbers. */
export function DiffView({ label, hunks }: DiffViewProps) {
  return (
    <section
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable areas need keyboard focus
      tabIndex={0}
      className="max-h-96 overflow-auto rounded border border-line"
    >
      <table className="w-full border-collapse font-mono text-sm">
        <tbody>{hunks.flatMap(numberedLines)}</tbody>
      </table>
    </section>
  );
}

function numberedLines(hunk: DiffViewProps["hunks"][number], index: number) {
  let [oldLine, newLine] = [hunk.oldStart, hunk.newStart];
  return hunk.lines.map((line, at) => {
    const sign = line.charAt(0);
    const oldNumber = sign === "+" ? "" : oldLine++;
    const newNumber = sign === "-" ? "" : newLine++;
    const isGap = index > 0 && at === 0;
    return (
      <tr
        // biome-ignore lint/suspicious/noArrayIndexKey: diff lines have no other key
        key={`${index}.${at}`}
        className={classNames(classBySign[sign], isGap && "border-t border-line-strong")}
      >
        <LineNumber value={oldNumber} />
        <LineNumber value={newNumber} />
        <td className="w-4 px-1 text-center align-top text-muted select-none">{sign.trim()}</td>
        <td className="pr-2 whitespace-pre-wrap wrap-anywhere">{line.slice(1)}</td>
      </tr>
    );
  });
}

function LineNumber({ value }: { value: number | "" }) {
  return <td className="w-8 px-1 text-right align-top text-muted select-none">{value}</td>;
}
