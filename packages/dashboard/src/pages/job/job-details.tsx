import { useNavigate, useSearch } from "@tanstack/react-router";
import { useDeferredValue, useMemo, useState } from "react";
import { useReadOnlyReason } from "../../api/use-read-only-reason.ts";
import { toConversationRows } from "../../transcript/conversation-rows.ts";
import {
  ancestorKeys,
  findEntriesWithText,
  findErrorEntries,
} from "../../transcript/find-entries.ts";
import { type JobRecord, toEpochMs } from "../../transcript/job-record.ts";
import { matchApprovals } from "../../transcript/match-approvals.ts";
import { computeTimeBreakdown, extentOf } from "../../transcript/time-breakdown.ts";
import { toWaterfallBars } from "../../transcript/waterfall-bars.ts";
import { classNames } from "../../ui/class-names.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { useNow } from "../../ui/use-now.ts";
import { ContinueDialog, type ContinueMode } from "./continue-dialog.tsx";
import { Conversation } from "./conversation.tsx";
import { CurrentEntry } from "./current-entry.ts";
import { DownloadMenu } from "./download-menu.tsx";
import { JobHeader } from "./job-header.tsx";
import { JobHooks } from "./job-hooks.tsx";
import { JobToolbar } from "./job-toolbar.tsx";
import { type JobView, JobViewProvider } from "./job-view-context.ts";
import { OutcomeNote } from "./outcome-note.tsx";
import { RawEvents } from "./raw-events.tsx";
import { RunAgainDialog } from "./run-again-dialog.tsx";
import type { JobSearch } from "./search-params.ts";
import { TimeBreakdownBar } from "./time-breakdown-bar.tsx";
import { useThrottled, useTranscript } from "./use-job.ts";
import { Waterfall } from "./waterfall.tsx";

const waterfallIntervalMs = 250;

export function JobDetails({ record }: { record: JobRecord }) {
  const { job } = record;
  const disabledReason = useReadOnlyReason();
  const { transcript, readingState, error } = useTranscript(job.id);
  const { view, at } = useSearch({ from: "/jobs/$jobId" });
  const navigate = useNavigate({ from: "/jobs/$jobId" });
  const showView = (next: JobSearch["view"]) =>
    void navigate({ search: { view: next }, replace: true });
  const [continueMode, setContinueMode] = useState<ContinueMode>();
  const [isRunningAgain, setRunningAgain] = useState(false);
  const [foldingOverrides, setFoldingOverrides] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [target, setTarget] = useState(at === undefined ? undefined : { key: at, count: 1 });
  const [currentEntry] = useState(() => new CurrentEntry());
  const [searchText, setSearchText] = useState("");
  const deferredSearchText = useDeferredValue(searchText);
  const now = useNow();

  // Long transcripts are laid out less often while they grow.
  const layoutDelayMs = transcript.entries.length / 100;
  const structureRevision = useThrottled(transcript.structureRevision, 50 + layoutDelayMs);
  const revision = useThrottled(transcript.revision, waterfallIntervalMs + layoutDelayMs);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the transcript is mutated in place, and structureRevision changes with it
  const approvals = useMemo(
    () => matchApprovals(record.approvals, transcript.tools.values()),
    [record.approvals, transcript, structureRevision],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above
  const rows = useMemo(
    () => toConversationRows(transcript, record, approvals, { overrides: foldingOverrides }),
    [transcript, record, approvals, foldingOverrides, structureRevision],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above
  const bars = useMemo(
    () => toWaterfallBars(transcript, record, approvals),
    [transcript, record, approvals, revision],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above
  const errorKeys = useMemo(() => findErrorEntries(transcript.entries), [transcript, revision]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above
  const foundEntries = useMemo(
    () => findEntriesWithText(transcript.entries, deferredSearchText),
    [transcript, deferredSearchText, revision],
  );
  const foundKeys = useMemo(() => new Set(foundEntries), [foundEntries]);
  const endMs = toEpochMs(job.finished_at) ?? now;
  const breakdown = useMemo(() => computeTimeBreakdown(bars, extentOf(bars, endMs)), [bars, endMs]);

  const jump = (key: string) => {
    const ancestors = ancestorKeys(transcript.entries, key);
    if (ancestors.length > 0)
      setFoldingOverrides(
        (before) => new Map([...before, ...ancestors.map((ancestor) => [ancestor, true] as const)]),
      );
    setTarget((before) => ({ key, count: (before?.count ?? 0) + 1 }));
    currentEntry.set(key);
  };
  const jobView = useMemo<JobView>(
    () => ({
      job,
      cwd: transcript.cwd,
      approvalsByTool: approvals.byTool,
      foldingOverrides,
      searchText: deferredSearchText.trim().toLowerCase(),
      setOpen: (key, isOpen) => setFoldingOverrides((before) => new Map(before).set(key, isOpen)),
      selectEntry: currentEntry.set,
      fork: (uuid) => setContinueMode({ kind: "fork", at: uuid }),
      disabledReason,
    }),
    [
      job,
      transcript.cwd,
      approvals,
      foldingOverrides,
      deferredSearchText,
      disabledReason,
      currentEntry,
    ],
  );

  return (
    <JobViewProvider value={jobView}>
      <div className="flex h-[calc(100dvh-6rem)] flex-col gap-3 md:h-[calc(100dvh-3rem)]">
        <JobHeader
          job={job}
          disabledReason={disabledReason}
          onResume={() => setContinueMode({ kind: "resume" })}
          onFork={() => setContinueMode({ kind: "fork" })}
          onRunAgain={() => setRunningAgain(true)}
          downloadMenu={<DownloadMenu job={job} readEntries={() => transcript.entries} />}
        />
        <OutcomeNote job={job} />
        <JobHooks jobId={job.id} />
        <TimeBreakdownBar breakdown={breakdown} />
        <JobToolbar
          view={view}
          onView={showView}
          searchText={searchText}
          onSearchTextChange={setSearchText}
          foundKeys={foundEntries}
          errorKeys={errorKeys}
          onJump={jump}
          target={target?.key}
          readingState={readingState}
        />
        {readingState === "failed" && <ErrorNote error={error} />}
        {view === "raw" ? (
          <div className="min-h-0 flex-1">
            <RawEvents
              jobId={job.id}
              offsets={transcript.offsets}
              count={transcript.offsets.length}
            />
          </div>
        ) : (
          <div className="grid min-h-0 flex-1 gap-3 lg:grid-cols-[minmax(0,5fr)_minmax(0,7fr)]">
            <div
              className={classNames(
                "min-h-0 rounded-lg border border-line bg-surface",
                view !== "waterfall" && "hidden lg:block",
              )}
            >
              <Waterfall
                bars={bars}
                now={endMs}
                currentEntry={currentEntry}
                transcript={transcript}
                onChoose={({ entryKey }) => {
                  if (view === "waterfall") showView(undefined);
                  if (entryKey !== null) jump(entryKey);
                }}
              />
            </div>
            <div
              className={classNames(
                "min-h-0 rounded-lg border border-line bg-bg",
                view === "waterfall" && "hidden lg:block",
              )}
            >
              <Conversation
                rows={rows}
                target={target}
                foundKeys={foundKeys}
                isLive={readingState === "reading" && job.finished_at === null}
                onVisibleRow={currentEntry.set}
              />
            </div>
          </div>
        )}
      </div>
      {isRunningAgain && <RunAgainDialog job={job} onClose={() => setRunningAgain(false)} />}
      <ContinueDialog job={job} mode={continueMode} onClose={() => setContinueMode(undefined)} />
    </JobViewProvider>
  );
}
