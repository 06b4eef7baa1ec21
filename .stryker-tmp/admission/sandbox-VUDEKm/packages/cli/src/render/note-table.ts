import type { Note } from "@herdctl/protocol";
import { formatAge, formatSize } from "./format-amounts.ts";
import { type Column, tableLines } from "./table.ts";
import type { TerminalStyle } from "./terminal-style.ts";

/** Names of notes need no sanitizing: only plain characters are allowed in them. */
export function noteTableLines(notes: Note[], now: Date, style: TerminalStyle): string[] {
  const columns: Column<Note>[] = [
    { title: "SIZE", align: "right", text: ({ bytes }) => formatSize(bytes) },
    { title: "CHANGED", align: "right", text: ({ changed_at }) => formatAge(changed_at, now) },
    { title: "NOTE", text: ({ name }) => name },
  ];
  return tableLines(columns, notes, style);
}
