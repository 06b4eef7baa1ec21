import { useState } from "react";
import type { ModelTextEntry } from "../../transcript/entry.ts";
import { Markdown } from "../../ui/markdown.tsx";
import { ForkButton } from "./fork-button.tsx";

/** Longer texts of a model are cut, because rendering Markdown is slow. */
const maxMarkdownChars = 100_000;

export function ModelTextView({ entry, depth }: { entry: ModelTextEntry; depth: number }) {
  if (entry.kind === "thinking") return <Thinking entry={entry} />;
  return (
    <div className="group relative">
      <Markdown text={entry.text.slice(0, maxMarkdownChars)} />
      {entry.isStreaming && (
        <span aria-hidden className="ml-0.5 inline-block h-3.5 w-1.5 animate-pulse bg-live" />
      )}
      {depth === 0 && <ForkButton uuid={entry.uuid} />}
    </div>
  );
}

function Thinking({ entry }: { entry: ModelTextEntry }) {
  const [isOpen, setOpen] = useState(false);
  const [firstLine = ""] = entry.text.trim().split("\n");
  return (
    <div className="text-muted">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="flex w-full items-baseline gap-1.5 text-left text-sm hover:text-text"
      >
        <span className="shrink-0 italic">{entry.isStreaming ? "Thinking" : "Thought"}</span>
        <span className="min-w-0 truncate">{isOpen ? "" : firstLine}</span>
      </button>
      {isOpen && (
        <p className="border-l-2 border-line pl-3 text-sm whitespace-pre-wrap wrap-anywhere">
          {entry.text}
        </p>
      )}
    </div>
  );
}
