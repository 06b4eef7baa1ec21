import { useState } from "react";
import { Button } from "../../ui/button.tsx";

/** So much is drawn at once, even when all is asked for. */
const most = 200_000;

/** Plain text as it is, cut after some lines until it is opened. */
export function FoldedText({ text, lines }: { text: string; lines: number }) {
  const [isOpen, setOpen] = useState(false);
  const all = text.split("\n");
  const more = all.length - lines;
  const shown = isOpen ? text.slice(0, most) : all.slice(0, lines).join("\n").slice(0, 4_000);
  return (
    <>
      <p className="whitespace-pre-wrap wrap-anywhere">{shown}</p>
      {(more > 0 || shown.length < text.length || isOpen) && (
        <Button size="small" look="quiet" onClick={() => setOpen(!isOpen)}>
          {isOpen ? "Less" : more > 0 ? `${more} more ${more === 1 ? "line" : "lines"}` : "More"}
        </Button>
      )}
      {isOpen && text.length > most && (
        <p className="text-sm text-muted">Only the beginning is shown; the raw events have all.</p>
      )}
    </>
  );
}
