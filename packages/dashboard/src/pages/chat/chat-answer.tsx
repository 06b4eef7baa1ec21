import type { Job } from "@herdctl/server/contract";
import { gistOf, toolName } from "../../job/gist.ts";
import { classNames } from "../../ui/class-names.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Markdown } from "../../ui/markdown.tsx";
import { Dot } from "../../ui/outcome-badge.tsx";
import { useStory } from "../job/use-job.ts";
import { type AnswerPart, answerParts } from "./answer-parts.ts";

export function ChatAnswer({ job }: { job: Job }) {
  const { story, reading, error } = useStory(job.id);
  const parts = answerParts(story.entries);
  const isBusy = job.status === "running" && !isSpeaking(parts.at(-1));
  return (
    <div className="flex flex-col gap-2" aria-busy={job.finished_at === null}>
      {reading === "failed" && <ErrorNote error={error} />}
      {parts.map((part) => (
        <Part key={part.key} part={part} cwd={story.cwd} />
      ))}
      {isBusy && (
        <p className="flex items-center gap-1.5 text-sm text-live" role="status">
          <Dot isLive /> at work
        </p>
      )}
    </div>
  );
}

function isSpeaking(part: AnswerPart | undefined): boolean {
  return part?.kind === "said" && part.entry.isOpen;
}

function Part({ part, cwd }: { part: AnswerPart; cwd: string | null }) {
  if (part.kind === "said") return <Markdown text={part.entry.text} />;
  if (part.kind === "marker") return <p className="text-sm text-warn">{part.entry.text}</p>;
  return (
    <ul className="flex flex-col gap-0.5 border-l-2 border-line pl-3 text-sm text-muted">
      {part.steps.map((step) => (
        <li key={step.key} className="flex min-w-0 gap-2">
          <span className="font-medium">{toolName(step.tool)}</span>
          <span
            className={classNames(
              "truncate font-mono",
              (step.result?.isError || step.denied !== null) && "text-bad",
            )}
          >
            {gistOf(step, cwd)}
          </span>
        </li>
      ))}
    </ul>
  );
}
