import { useNavigate, useSearch } from "@tanstack/react-router";
import { useDeferredValue, useMemo, useState } from "react";
import { useReadOnly } from "../../api/access.ts";
import { matchApprovals } from "../../job/asked.ts";
import { conversationOf } from "../../job/conversation.ts";
import { findErrors, findWords, wayTo } from "../../job/find.ts";
import { type JobRecord, momentOf } from "../../job/record.ts";
import { extentOf, timesOf } from "../../job/times.ts";
import { waterfallOf } from "../../job/waterfall.ts";
import { classNames } from "../../ui/class-names.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { useNow } from "../../ui/now.ts";
import { ContinueDialog, type Wish } from "./continue-dialog.tsx";
import { Conversation } from "./conversation.tsx";
import { JobHead } from "./job-head.tsx";
import { JobTools } from "./job-tools.tsx";
import { type JobView, JobViewProvider } from "./job-view.ts";
import { Outcome } from "./outcome.tsx";
import { RawEvents } from "./raw-events.tsx";
import { Reader } from "./reader.ts";
import type { JobSearch } from "./search.ts";
import { TimesLine } from "./times-line.tsx";
import { useEvery, useStory } from "./use-job.ts";
import { Waterfall } from "./waterfall.tsx";

const waterfallEvery = 250;

export function JobStory({ record }: { record: JobRecord }) {
  const { job } = record;
  const obstacle = useReadOnly();
  const { story, reading, error } = useStory(job.id);
  const { view, at } = useSearch({ from: "/jobs/$jobId" });
  const navigate = useNavigate({ from: "/jobs/$jobId" });
  const show = (next: JobSearch["view"]) =>
    void navigate({ search: { view: next }, replace: true });
  const [wish, setWish] = useState<Wish>();
  const [opened, setOpened] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [target, setTarget] = useState(at === undefined ? undefined : { key: at, count: 1 });
  const [reader] = useState(() => new Reader());
  const [words, setWords] = useState("");
  const wanted = useDeferredValue(words);
  const now = useNow();

  // What is long is laid out less often while it grows.
  const pause = story.entries.length / 100;
  const shape = useEvery(story.shape, 50 + pause);
  const revision = useEvery(story.revision, waterfallEvery + pause);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the story changes in place, its shape says so
  const asked = useMemo(
    () => matchApprovals(record.approvals, story.tools.values()),
    [record.approvals, story, shape],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above
  const rows = useMemo(
    () => conversationOf(story, record, asked, { chosen: opened }),
    [story, record, asked, opened, shape],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above
  const bars = useMemo(() => waterfallOf(story, record, asked), [story, record, asked, revision]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above
  const errors = useMemo(() => findErrors(story.entries), [story, revision]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above
  const found = useMemo(() => findWords(story.entries, wanted), [story, wanted, revision]);
  const foundKeys = useMemo(() => new Set(found), [found]);
  const until = momentOf(job.finished_at) ?? now;
  const times = useMemo(() => timesOf(bars, extentOf(bars, until)), [bars, until]);

  const jump = (key: string) => {
    const way = wayTo(story.entries, key);
    if (way.length > 0)
      setOpened((before) => new Map([...before, ...way.map((one) => [one, true] as const)]));
    setTarget((before) => ({ key, count: (before?.count ?? 0) + 1 }));
    reader.see(key);
  };
  const jobView = useMemo<JobView>(
    () => ({
      job,
      cwd: story.cwd,
      asked: asked.byTool,
      opened,
      open: (key, isOpen) => setOpened((before) => new Map(before).set(key, isOpen)),
      choose: reader.see,
      fork: (uuid) => setWish({ kind: "fork", at: uuid }),
      obstacle,
    }),
    [job, story.cwd, asked, opened, obstacle, reader],
  );

  return (
    <JobViewProvider value={jobView}>
      <div className="flex h-[calc(100dvh-6rem)] flex-col gap-3 md:h-[calc(100dvh-3rem)]">
        <JobHead
          job={job}
          obstacle={obstacle}
          onResume={() => setWish({ kind: "resume" })}
          onFork={() => setWish({ kind: "fork" })}
        />
        <Outcome job={job} />
        <TimesLine times={times} />
        <JobTools
          view={view}
          onView={show}
          words={words}
          onWords={setWords}
          found={found}
          errors={errors}
          onJump={jump}
          target={target?.key}
          reading={reading}
        />
        {reading === "failed" && <ErrorNote error={error} />}
        {view === "raw" ? (
          <div className="min-h-0 flex-1">
            <RawEvents jobId={job.id} offsets={story.offsets} count={story.offsets.length} />
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
                now={until}
                reader={reader}
                story={story}
                onChoose={({ entryKey }) => {
                  if (view === "waterfall") show(undefined);
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
                found={foundKeys}
                isLive={reading === "reading" && job.finished_at === null}
                onSee={reader.see}
              />
            </div>
          </div>
        )}
      </div>
      <ContinueDialog job={job} wish={wish} onClose={() => setWish(undefined)} />
    </JobViewProvider>
  );
}
