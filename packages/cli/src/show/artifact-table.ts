import type { Artifact } from "@herdctl/core";
import { ageText, sizeText } from "./amounts.ts";
import { harmlessAll } from "./harmless.ts";
import type { Look } from "./look.ts";
import { type Column, tableLines } from "./table.ts";

export function artifactTable(artifacts: Artifact[], now: Date, look: Look): string[] {
  const columns: Column<Artifact>[] = [
    { title: "SIZE", align: "right", text: ({ bytes }) => sizeText(bytes) },
    { title: "KEPT", align: "right", text: ({ kept_at }) => ageText(kept_at, now) },
    { title: "FILE", text: ({ name }) => name },
  ];
  return tableLines(columns, harmlessAll(artifacts), look);
}
