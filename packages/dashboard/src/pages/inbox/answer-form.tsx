import {
  type Approval,
  escapeInvisibleInline,
  formatPermissionRule,
} from "@herdctl/server/contract";
import { Link } from "@tanstack/react-router";
import { useId, useState } from "react";
import { useFleetMutation, useFleetQuery } from "../../api/queries.ts";
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
        {!isQuestion && <AllowButtons {...{ submitAnswer, disabledReason, isDisabled }} />}
        <DenyForm
          isQuestion={isQuestion}
          isDisabled={isDisabled}
          disabledReason={disabledReason}
          submitAnswer={submitAnswer}
        />
      </div>
      {!isQuestion && <RuleNote approval={approval} />}
      {error && <ErrorNote error={error} />}
    </div>
  );
}

const allowChoices = [
  { scope: "once", label: "Allow once" },
  { scope: "job", label: "For this job" },
  { scope: "always", label: "Always" },
] as const;

function AllowButtons({
  submitAnswer,
  disabledReason,
  isDisabled,
}: Pick<DenyFormProps, "submitAnswer" | "disabledReason" | "isDisabled">) {
  const isAdmin = useFleetQuery("access").data?.scope === "admin";
  const adminReason = isAdmin ? undefined : "Only administrators can allow a request always";
  return allowChoices.map(({ scope, label }) => (
    <Button
      key={scope}
      variant={scope === "once" ? "main" : "plain"}
      disabled={isDisabled}
      disabledReason={disabledReason ?? (scope === "always" ? adminReason : undefined)}
      onClick={() => submitAnswer({ decision: "allow", scope })}
    >
      {label}
    </Button>
  ));
}

/** What the buttons for more than one call allow. */
function RuleNote({ approval: { suggested_rules: rules, tool } }: { approval: Approval }) {
  return (
    <p className="text-sm wrap-anywhere text-muted">
      “For this job” and “Always” allow{" "}
      <code className="font-mono text-text">
        {escapeInvisibleInline(formatPermissionRule({ rules, tool }))}
      </code>
      . Rules can be revoked on the{" "}
      <Link to="/access" className="text-text underline">
        access page
      </Link>
      .
    </p>
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
      className="flex min-w-0 flex-1 basis-64 items-center gap-2"
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
