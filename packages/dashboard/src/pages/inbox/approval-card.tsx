import { type Approval, escapeInvisible, escapeInvisibleInline } from "@herdctl/server/contract";
import { toEpochMs } from "../../transcript/job-record.ts";
import { Badge } from "../../ui/badge.tsx";
import { formatDuration } from "../../ui/format-quantities.ts";
import { RelativeTime } from "../../ui/time.tsx";
import type { Tone } from "../../ui/tone.ts";
import { AnswerForm } from "./answer-form.tsx";
import { ToolInput } from "./tool-input.tsx";

interface ApprovalCardProps {
  approval: Approval;
  /** Shown below its tool call. */
  isInline?: boolean;
}

/** A permission request or question of an agent, with its answer or a form to answer it. */
export function ApprovalCard({ approval, isInline = false }: ApprovalCardProps) {
  if (approval.answer !== null) return <AnsweredApproval approval={approval} isInline={isInline} />;
  const isQuestion = approval.kind === "question";
  return (
    <section
      aria-label={isQuestion ? "Question" : "Permission request"}
      className="rounded border border-wait bg-wait-soft p-3"
    >
      <p className="mb-2 flex flex-wrap items-baseline justify-between gap-2">
        <span className="font-semibold">
          {isQuestion
            ? "The agent has a question"
            : `Allow ${escapeInvisibleInline(approval.tool)}?`}
        </span>
        <span className="text-sm text-muted">
          {whenExpired(approval)} <RelativeTime at={approval.expires_at} />
        </span>
      </p>
      {isQuestion ? (
        <p className="mb-3 text-md whitespace-pre-wrap wrap-anywhere">
          {escapeInvisible(approval.question ?? "")}
        </p>
      ) : (
        <ToolInput tool={approval.tool} input={approval.input} />
      )}
      <AnswerForm approval={approval} />
    </section>
  );
}

/** What happens without an answer, before the time at which it happens. */
function whenExpired({ kind, default_reply }: Approval): string {
  if (default_reply !== null) return `“${escapeInvisible(default_reply)}” is used`;
  return kind === "question" ? "The agent continues without an answer" : "Denied automatically";
}

const labelByAnswer: Record<NonNullable<Approval["answer"]>, { label: string; tone: Tone }> = {
  allow: { label: "Allowed", tone: "ok" },
  deny: { label: "Denied", tone: "bad" },
  reply: { label: "Answered", tone: "ok" },
  default: { label: "Default used", tone: "warn" },
  expired: { label: "Expired", tone: "warn" },
  void: { label: "Withdrawn", tone: "idle" },
};

function AnsweredApproval({ approval, isInline }: Required<ApprovalCardProps>) {
  const { answer, answered_by, answered_at, requested_at, question, reply, reason, tool, scope } =
    approval;
  if (answer === null) return null;
  const { label, tone } = labelByAnswer[answer];
  const askedAt = toEpochMs(requested_at);
  const answeredAt = toEpochMs(answered_at);
  const waitedText =
    askedAt !== null && answeredAt !== null ? formatDuration((answeredAt - askedAt) / 1000) : null;
  return (
    <p className="flex flex-wrap items-baseline gap-x-2 text-sm text-muted">
      <Badge tone={tone}>{label}</Badge>
      {!isInline && <span>{question ?? tool}</span>}
      {question !== null && reply !== null && <span className="text-text">{reply}</span>}
      {scope !== null && scope !== "once" && (
        <span>{scope === "job" ? "for this job" : "always"}</span>
      )}
      {answered_by !== null && <span>by {answered_by}</span>}
      {waitedText !== null && <span>after {waitedText}</span>}
      {reason !== null && <span className="wrap-anywhere">“{reason}”</span>}
    </p>
  );
}
