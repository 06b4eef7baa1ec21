import type { Approval } from "@herdctl/server/contract";
import { useId, useState } from "react";
import { useReadOnly } from "../../api/access.ts";
import { useTell } from "../../api/queries.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { TextInput } from "../../ui/field.tsx";
import { QuestionForm } from "./question-form.tsx";
import type { Said } from "./said.ts";

/** How it stands on record who answered. */
const by = "dashboard";

export function AnswerForm({ approval }: { approval: Approval }) {
  const obstacle = useReadOnly();
  const { mutate, isPending, isSuccess, error } = useTell("answer");
  const say = (said: Said) => mutate({ params: { id: approval.id }, body: { ...said, by } });
  const isClosed = isPending || isSuccess;
  const isQuestion = approval.kind === "question";
  return (
    <div className="flex flex-col gap-2">
      {isQuestion && <QuestionForm {...{ approval, say, obstacle, isClosed }} />}
      <div className="flex flex-wrap items-center gap-2">
        {!isQuestion && (
          <Button
            look="main"
            disabled={isClosed}
            obstacle={obstacle}
            onClick={() => say({ word: "allow" })}
          >
            Allow
          </Button>
        )}
        <Deny isQuestion={isQuestion} isClosed={isClosed} obstacle={obstacle} say={say} />
      </div>
      {error && <ErrorNote error={error} />}
    </div>
  );
}

interface DenyProps {
  isQuestion: boolean;
  isClosed: boolean;
  obstacle: string | undefined;
  say(said: Said): void;
}

/** The agent is told the reason, if one is given. */
function Deny({ isQuestion, isClosed, obstacle, say }: DenyProps) {
  const [reason, setReason] = useState("");
  const id = useId();
  const given = reason.trim();
  const word = isQuestion ? "Decline" : "Deny";
  return (
    <form
      className="flex min-w-0 flex-1 items-center gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        say({ word: "deny", ...(given && { reason: given }) });
      }}
    >
      <Button type="submit" look="bad" disabled={isClosed} obstacle={obstacle}>
        {given ? `${word} with this reason` : word}
      </Button>
      <label htmlFor={id} className="sr-only">
        Reason
      </label>
      <TextInput
        id={id}
        className="min-w-0 flex-1"
        placeholder="Reason, told to the agent"
        value={reason}
        maxLength={10_000}
        disabled={isClosed || obstacle !== undefined}
        onChange={(event) => setReason(event.target.value)}
      />
    </form>
  );
}
