import type { Approval } from "@herdctl/server/contract";
import { useId, useState } from "react";
import { useFleetMutation } from "../../api/queries.ts";
import { useReadOnlyReason } from "../../api/use-read-only-reason.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { TextInput } from "../../ui/form-controls.tsx";
import type { ApprovalAnswer } from "./approval-answer.ts";
import { QuestionForm } from "./question-form.tsx";

/** The client name recorded with the answer. */
const answeredBy = "dashboard";

export function AnswerForm({ approval }: { approval: Approval }) {
  const disabledReason = useReadOnlyReason();
  const { mutate, isPending, isSuccess, error } = useFleetMutation("answer");
  const submitAnswer = (answer: ApprovalAnswer) =>
    mutate({ params: { id: approval.id }, body: { ...answer, note: answeredBy } });
  const isDisabled = isPending || isSuccess;
  const isQuestion = approval.kind === "question";
  return (
    <div className="flex flex-col gap-2">
      {isQuestion && <QuestionForm {...{ approval, submitAnswer, disabledReason, isDisabled }} />}
      <div className="flex flex-wrap items-center gap-2">
        {!isQuestion && (
          <Button
            variant="main"
            disabled={isDisabled}
            disabledReason={disabledReason}
            onClick={() => submitAnswer({ decision: "allow" })}
          >
            Allow
          </Button>
        )}
        <DenyForm
          isQuestion={isQuestion}
          isDisabled={isDisabled}
          disabledReason={disabledReason}
          submitAnswer={submitAnswer}
        />
      </div>
      {error && <ErrorNote error={error} />}
    </div>
  );
}

interface DenyFormProps {
  isQuestion: boolean;
  isDisabled: boolean;
  disabledReason: string | undefined;
  submitAnswer(answer: ApprovalAnswer): void;
}

/** The optional reason is sent to the agent. */
function DenyForm({ isQuestion, isDisabled, disabledReason, submitAnswer }: DenyFormProps) {
  const [reason, setReason] = useState("");
  const id = useId();
  const trimmedReason = reason.trim();
  const label = isQuestion ? "Decline" : "Deny";
  return (
    <form
      className="flex min-w-0 flex-1 items-center gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        submitAnswer({ decision: "deny", ...(trimmedReason && { reason: trimmedReason }) });
      }}
    >
      <Button type="submit" variant="bad" disabled={isDisabled} disabledReason={disabledReason}>
        {trimmedReason ? `${label} with reason` : label}
      </Button>
      <label htmlFor={id} className="sr-only">
        Reason
      </label>
      <TextInput
        id={id}
        className="min-w-0 flex-1"
        placeholder="Reason (sent to the agent)"
        value={reason}
        maxLength={10_000}
        disabled={isDisabled || disabledReason !== undefined}
        onChange={(event) => setReason(event.target.value)}
      />
    </form>
  );
}
