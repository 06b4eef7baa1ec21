import type { AgentStatus } from "@herdctl/server/contract";
import { Link } from "@tanstack/react-router";
import { useEffect, useMemo, useSyncExternalStore } from "react";
import type { Entry } from "../../transcript/entry.ts";
import { formatToolName, summarizeToolCall } from "../../transcript/summarize-tool-call.ts";
import { TranscriptStore } from "../../transcript/transcript-store.ts";
import { Dot } from "../../ui/outcome-badge.tsx";
import { Panel } from "../../ui/panel.tsx";
import { sentenceCase } from "../../ui/sentence-case.ts";
import { Elapsed } from "../../ui/time.tsx";

type Run = AgentStatus["running"][number];

const maxLines = 6;

/** The latest output of a running job, live. The job page has all of it. */
export function LiveRun({ run: { job_id, started_at, activity } }: { run: Run }) {
  const store = useMemo(() => new TranscriptStore(job_id), [job_id]);
  useEffect(() => store.start(), [store]);
  useSyncExternalStore(store.subscribe, store.snapshot);
  const { entries, cwd } = store.transcript;
  const lines = entries.flatMap((entry) => toLines(entry, cwd)).slice(-maxLines);
  return (
    <Panel
      title={
        <span className="flex items-center gap-2 text-live">
          <Dot isLive /> <span className="text-text">{activity}</span>
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
      <ol aria-label="Recent activity" className="flex min-h-36 flex-col justify-end gap-1">
        {lines.map(({ key, label, text, isModelText }) => (
          <li key={key} className="flex gap-3">
            <span className="w-20 shrink-0 truncate text-sm text-muted">{label}</span>
            <span className={isModelText ? "line-clamp-2" : "truncate font-mono text-sm"}>
              {text}
            </span>
          </li>
        ))}
      </ol>
    </Panel>
  );
}

interface ActivityLine {
  key: string;
  label: string;
  text: string;
  isModelText?: true;
}

function toLines(entry: Entry, cwd: string | null): ActivityLine[] {
  const { key } = entry;
  if (entry.kind === "text" && entry.text.trim() !== "")
    return [{ key, label: "Message", text: entry.text, isModelText: true }];
  if (entry.kind === "tool")
    return [{ key, label: formatToolName(entry.tool), text: summarizeToolCall(entry, cwd) }];
  return entry.kind === "marker"
    ? [{ key, label: sentenceCase(entry.marker), text: entry.text }]
    : [];
}
