import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { formatCountOf } from "../../ui/format-quantities.ts";

/** The most text to render, even when expanded. */
const maxChars = 200_000;

/** Plain text, collapsed to a number of lines until expanded. */
export function FoldedText({ text, lines }: { text: string; lines: number }) {
  const [isOpen, setOpen] = useState(false);
  const allLines = text.split("\n");
  const hiddenLineCount = allLines.length - lines;
  const shownText = isOpen
    ? text.slice(0, maxChars)
    : allLines.slice(0, lines).join("\n").slice(0, 4_000);
  return (
    <>
      <p className="whitespace-pre-wrap wrap-anywhere">{shownText}</p>
      {(hiddenLineCount > 0 || shownText.length < text.length || isOpen) && (
        <Button size="small" variant="quiet" onClick={() => setOpen(!isOpen)}>
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
