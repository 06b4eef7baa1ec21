import { useState } from "react";
import type { SaidEntry } from "../../job/entry.ts";
import { Markdown } from "../../ui/markdown.tsx";
import { ForkHere } from "./fork-here.tsx";

/** A model may say a great deal at once; so much of it is set as markdown. */
const longest = 100_000;

export function SaidView({ entry, depth }: { entry: SaidEntry; depth: number }) {
  if (entry.kind === "thinking") return <Thought entry={entry} />;
  return (
    <div className="group relative">
      <Markdown text={entry.text.slice(0, longest)} />
      {entry.isOpen && (
        <span aria-hidden className="ml-0.5 inline-block h-3.5 w-1.5 animate-pulse bg-live" />
      )}
      {depth === 0 && <ForkHere uuid={entry.uuid} />}
    </div>
  );
}

function Thought({ entry }: { entry: SaidEntry }) {
  const [isOpen, setOpen] = useState(false);
  const [first = ""] = entry.text.trim().split("\n");
  return (
    <div className="text-muted">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="flex w-full items-baseline gap-1.5 text-left text-sm hover:text-text"
      >
        <span className="shrink-0 italic">{entry.isOpen ? "Thinking" : "Thought"}</span>
        <span className="min-w-0 truncate">{isOpen ? "" : first}</span>
      </button>
      {isOpen && (
        <p className="border-l-2 border-line pl-3 text-sm whitespace-pre-wrap wrap-anywhere">
          {entry.text}
        </p>
      )}
    </div>
  );
}
