import type { ToolEntry } from "../../transcript/entry.ts";
import { formatCountOf } from "../../ui/format-quantities.ts";

const maxLines = 3;

/** The first lines of a tool result. */
export function ToolResultPreview({ tool: { result } }: { tool: ToolEntry }) {
  const text = result?.text.slice(0, 2_000).trim() ?? "";
  if (text === "" || result?.diff) return null;
  const lines = text.split("\n");
  const hiddenLineCount = result ? result.text.trim().split("\n", 10_001).length - maxLines : 0;
  return (
    <div className="px-2 pb-1.5 pl-6.5">
      <pre className="overflow-hidden font-mono text-sm whitespace-pre-wrap wrap-anywhere text-muted">
        {lines.slice(0, maxLines).join("\n").slice(0, 400)}
      </pre>
      {hiddenLineCount > 0 && (
        <p className="text-xs text-muted">{formatCountOf(hiddenLineCount, "more line")}</p>
      )}
    </div>
  );
}
