import type { Artifact } from "@herdctl/protocol";
import { formatAge, formatSize } from "./format-amounts.ts";
import { sanitizeDeep } from "./sanitize-text.ts";
import { type Column, tableLines } from "./table.ts";
import type { TerminalStyle } from "./terminal-style.ts";

export function artifactTableLines(
  artifacts: Artifact[],
  now: Date,
  style: TerminalStyle,
): string[] {
  const columns: Column<Artifact>[] = [
    { title: "SIZE", align: "right", text: ({ bytes }) => formatSize(bytes) },
    { title: "KEPT", align: "right", text: ({ kept_at }) => formatAge(kept_at, now) },
    { title: "FILE", text: ({ name }) => name },
  ];
  return tableLines(columns, sanitizeDeep(artifacts), style);
}
