import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { formatCountOf } from "../../ui/format-quantities.ts";
import { useJobView } from "./job-view-context.ts";

/** The most text to render, even when expanded. */
const maxChars = 200_000;

/** Plain text, collapsed to a number of lines until expanded. */
export function FoldedText({ text, lines }: { text: string; lines: number }) {
  const { searchText } = useJobView();
  const [chosen, setChosen] = useState<boolean>();
  const allLines = text.split("\n");
  const hiddenLineCount = allLines.length - lines;
  const start = allLines.slice(0, lines).join("\n").slice(0, 4_000);
  const isOpen = chosen ?? isHit(text.slice(start.length), searchText);
  const shownText = isOpen ? text.slice(0, maxChars) : start;
  return (
    <>
      <p className="whitespace-pre-wrap wrap-anywhere">{shownText}</p>
      {(hiddenLineCount > 0 || shownText.length < text.length || isOpen) && (
        <Button size="small" variant="quiet" onClick={() => setChosen(!isOpen)}>
          {isOpen
            ? "Show less"
            : hiddenLineCount > 0
              ? `Show ${formatCountOf(hiddenLineCount, "more line")}`
              : "Show more"}
        </Button>
      )}
      {isOpen && text.length > maxChars && (
        <p className="text-sm text-muted">Truncated. The raw events have the full text.</p>
      )}
    </>
  );
}

/** A prompt outside the conversation, in at most a few lines. */
export function FoldedPrompt({ text }: { text: string }) {
  return (
    <p className="max-h-40 overflow-y-auto rounded border border-line bg-sunken p-2 text-sm whitespace-pre-wrap wrap-anywhere">
      {text.slice(0, maxChars)}
    </p>
  );
}

/** Whether a text contains the searched text, given in lower case. */
export function isHit(text: string, searchText: string): boolean {
  return searchText !== "" && text.toLowerCase().includes(searchText);
}
