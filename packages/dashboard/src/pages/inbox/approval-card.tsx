import { type Approval, visible, visibleName } from "@herdctl/server/contract";
import { momentOf } from "../../job/record.ts";
import { Badge } from "../../ui/badge.tsx";
import { durationWords } from "../../ui/quantities.ts";
import { Ago } from "../../ui/time.tsx";
import type { Tone } from "../../ui/tone.ts";
import { AnswerForm } from "./answer-form.tsx";
import { AskedInput } from "./asked-input.tsx";

interface ApprovalCardProps {
  approval: Approval;
  /** It stands below the tool call that it is about. */
  isInPlace?: boolean;
}

/** What an agent asks of a person, with the answer, or with what to answer it by. */
export function ApprovalCard({ approval, isInPlace = false }: ApprovalCardProps) {
  if (approval.answer !== null) return <Answered approval={approval} isInPlace={isInPlace} />;
  const isQuestion = approval.kind === "question";
  return (
    <section
      aria-label={isQuestion ? "A question" : "A request for permission"}
      className="rounded border border-wait bg-wait-soft p-3"
    >
      <p className="mb-2 flex flex-wrap items-baseline justify-between gap-2">
        <span className="font-semibold">
          {isQuestion ? "The agent asks" : `May it use ${visibleName(approval.tool)}?`}
        </span>
        <span className="text-sm text-muted">
          {approval.default_reply === null
            ? "denied "
            : `“${visible(approval.default_reply)}” counts `}
          <Ago at={approval.expires_at} />
        </span>
      </p>
      {isQuestion ? (
        <p className="mb-3 text-md whitespace-pre-wrap wrap-anywhere">
          {visible(approval.question ?? "")}
        </p>
      ) : (
        <AskedInput tool={approval.tool} input={approval.input} />
      )}
      <AnswerForm approval={approval} />
    </section>
  );
}

const words: Record<NonNullable<Approval["answer"]>, { word: string; tone: Tone }> = {
  allow: { word: "allowed", tone: "ok" },
  deny: { word: "denied", tone: "bad" },
  reply: { word: "answered", tone: "ok" },
  default: { word: "default taken", tone: "warn" },
  expired: { word: "nobody answered", tone: "warn" },
  void: { word: "no longer asked", tone: "idle" },
};

function Answered({ approval, isInPlace }: Required<ApprovalCardProps>) {
  const { answer, answered_by, answered_at, asked_at, question, reply, reason, tool } = approval;
  if (answer === null) return null;
  const { word, tone } = words[answer];
  const asked = momentOf(asked_at);
  const ended = momentOf(answered_at);
  const waited = asked !== null && ended !== null ? durationWords((ended - asked) / 1000) : null;
  return (
    <p className="flex flex-wrap items-baseline gap-x-2 text-sm text-muted">
      <Badge tone={tone}>{word}</Badge>
      {!isInPlace && <span>{question ?? tool}</span>}
      {question !== null && reply !== null && <span className="text-text">{reply}</span>}
      {answered_by !== null && <span>by {answered_by}</span>}
      {waited !== null && <span>after {waited}</span>}
      {reason !== null && <span className="wrap-anywhere">“{reason}”</span>}
    </p>
  );
}
