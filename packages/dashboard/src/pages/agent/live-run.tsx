import type { AgentStatus } from "@herdctl/server/contract";
import { Link } from "@tanstack/react-router";
import { useEffect, useMemo, useSyncExternalStore } from "react";
import type { Entry } from "../../job/entry.ts";
import { gistOf, toolName } from "../../job/gist.ts";
import { StoryStore } from "../../job/story-store.ts";
import { Dot } from "../../ui/outcome-badge.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Elapsed } from "../../ui/time.tsx";

type Run = AgentStatus["running"][number];

const shown = 6;

/** The last of what it says and does, as it comes; the whole is on the page of the job. */
export function LiveRun({ run: { job_id, started_at, doing } }: { run: Run }) {
  const store = useMemo(() => new StoryStore(job_id), [job_id]);
  useEffect(() => store.start(), [store]);
  useSyncExternalStore(store.subscribe, store.snapshot);
  const { entries, cwd } = store.story;
  const lines = entries.flatMap((entry) => lineOf(entry, cwd)).slice(-shown);
  return (
    <Panel
      title={
        <span className="flex items-center gap-2 text-live">
          <Dot isLive /> <span className="text-text">{doing}</span>
        </span>
      }
      aside={
        <span className="flex gap-3">
          <Elapsed since={started_at} />
          <Link
            to="/jobs/$jobId"
            params={{ jobId: job_id }}
            data-row
            className="text-accent underline"
          >
            Open
          </Link>
        </span>
      }
    >
      <ol aria-label="What it did last" className="flex min-h-36 flex-col justify-end gap-1">
        {lines.map(({ key, who, text }) => (
          <li key={key} className="flex gap-3">
            <span className="w-20 shrink-0 truncate text-sm text-muted">{who}</span>
            <span className={who === "says" ? "line-clamp-2" : "truncate font-mono text-sm"}>
              {text}
            </span>
          </li>
        ))}
      </ol>
    </Panel>
  );
}

function lineOf(entry: Entry, cwd: string | null): { key: string; who: string; text: string }[] {
  const { key } = entry;
  if (entry.kind === "text" && entry.text.trim() !== "")
    return [{ key, who: "says", text: entry.text }];
  if (entry.kind === "tool") return [{ key, who: toolName(entry.tool), text: gistOf(entry, cwd) }];
  return entry.kind === "marker" ? [{ key, who: entry.marker, text: entry.text }] : [];
}
