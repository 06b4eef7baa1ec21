import type { ToolEntry } from "../../job/entry.ts";

const lines = 3;

/** The first lines of what a tool gave back. */
export function ToolGlance({ tool: { result } }: { tool: ToolEntry }) {
  const text = result?.text.slice(0, 2_000).trim() ?? "";
  if (text === "" || result?.diff) return null;
  const all = text.split("\n");
  const more = result ? result.text.trim().split("\n", 10_001).length - lines : 0;
  return (
    <div className="px-2 pb-1.5 pl-6.5">
      <pre className="overflow-hidden font-mono text-sm whitespace-pre-wrap wrap-anywhere text-muted">
        {all.slice(0, lines).join("\n").slice(0, 400)}
      </pre>
      {more > 0 && (
        <p className="text-xs text-muted">
          {more} more {more === 1 ? "line" : "lines"}
        </p>
      )}
    </div>
  );
}
