import type { Job } from "@herdctl/server/contract";
import { formatToolName, summarizeToolCall } from "../../transcript/summarize-tool-call.ts";
import { classNames } from "../../ui/class-names.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Markdown } from "../../ui/markdown.tsx";
import { Dot } from "../../ui/outcome-badge.tsx";
import { useTranscript } from "../job/use-job.ts";
import { type AnswerPart, toAnswerParts } from "./answer-parts.ts";

export function ChatAnswer({ job }: { job: Job }) {
  const { transcript, readingState, error } = useTranscript(job.id);
  const parts = toAnswerParts(transcript.entries);
  const isBusy = job.status === "running" && !isStreamingText(parts.at(-1));
  return (
    <div className="flex flex-col gap-2" aria-busy={job.finished_at === null}>
      {readingState === "failed" && <ErrorNote error={error} />}
      {parts.map((part) => (
        <Part key={part.key} part={part} cwd={transcript.cwd} />
      ))}
      {isBusy && (
        <p className="flex items-center gap-1.5 text-sm text-live" role="status">
          <Dot isLive /> Working…
        </p>
      )}
    </div>
  );
}

function isStreamingText(part: AnswerPart | undefined): boolean {
  return part?.kind === "text" && part.entry.isStreaming;
}

function Part({ part, cwd }: { part: AnswerPart; cwd: string | null }) {
  if (part.kind === "text") return <Markdown text={part.entry.text} />;
  if (part.kind === "marker") return <p className="text-sm text-warn">{part.entry.text}</p>;
  return (
    <ul className="flex flex-col gap-0.5 border-l-2 border-line pl-3 text-sm text-muted">
      {part.steps.map((step) => (
        <li key={step.key} className="flex min-w-0 gap-2">
          <span className="font-medium">{formatToolName(step.tool)}</span>
          <span
            className={classNames(
              "truncate font-mono",
              (step.result?.isError || step.deniedReason !== null) && "text-bad",
            )}
          >
            {summarizeToolCall(step, cwd)}
          </span>
        </li>
      ))}
    </ul>
  );
}
