import { classNames } from "./class-names.ts";

interface DiffViewProps {
  label: string;
  hunks: readonly { oldStart: number; newStart: number; lines: readonly string[] }[];
}

const looks: Record<string, string> = { "+": "bg-ok-soft", "-": "bg-bad-soft" };

/** What changed in a file, line by line, with its numbers before and after. */
export function DiffView({ label, hunks }: DiffViewProps) {
  return (
    <section
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      tabIndex={0}
      className="max-h-96 overflow-auto rounded border border-line"
    >
      <table className="w-full border-collapse font-mono text-sm">
        <tbody>{hunks.flatMap(numbered)}</tbody>
      </table>
    </section>
  );
}

function numbered(hunk: DiffViewProps["hunks"][number], index: number) {
  let [before, after] = [hunk.oldStart, hunk.newStart];
  return hunk.lines.map((line, at) => {
    const sign = line.charAt(0);
    const old = sign === "+" ? "" : before++;
    const now = sign === "-" ? "" : after++;
    const isGap = index > 0 && at === 0;
    return (
      <tr
        // biome-ignore lint/suspicious/noArrayIndexKey: lines of a diff have no other name
        key={`${index}.${at}`}
        className={classNames(looks[sign], isGap && "border-t border-line-strong")}
      >
        <LineNumber value={old} />
        <LineNumber value={now} />
        <td className="w-4 px-1 text-center align-top text-muted select-none">{sign.trim()}</td>
        <td className="pr-2 whitespace-pre-wrap wrap-anywhere">{line.slice(1)}</td>
      </tr>
    );
  });
}

function LineNumber({ value }: { value: number | "" }) {
  return <td className="w-8 px-1 text-right align-top text-muted select-none">{value}</td>;
}
