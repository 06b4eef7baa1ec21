import type { Note } from "@herdctl/core";
import { ageText, sizeText } from "./amounts.ts";
import type { Look } from "./look.ts";
import { type Column, tableLines } from "./table.ts";

/** Names of notes are plain by their nature. */
export function noteTable(notes: Note[], now: Date, look: Look): string[] {
  const columns: Column<Note>[] = [
    { title: "SIZE", align: "right", text: ({ bytes }) => sizeText(bytes) },
    { title: "CHANGED", align: "right", text: ({ changed_at }) => ageText(changed_at, now) },
    { title: "NOTE", text: ({ name }) => name },
  ];
  return tableLines(columns, notes, look);
}
