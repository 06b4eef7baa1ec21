import { type Approval, escapeInvisible } from "@herdctl/server/contract";
import { useId, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { TextInput } from "../../ui/form-controls.tsx";
import type { ApprovalAnswer } from "./approval-answer.ts";

interface QuestionFormProps {
  approval: Approval;
  isDisabled: boolean;
  disabledReason: string | undefined;
  submitAnswer(answer: ApprovalAnswer): void;
}

/** Offers the choices of a question, and free text where it is accepted. */
export function QuestionForm({
  approval,
  isDisabled,
  disabledReason,
  submitAnswer,
}: QuestionFormProps) {
  const { choices, multiple, free_text } = approval;
  const [chosen, setChosen] = useState<string[]>([]);
  const [freeText, setFreeText] = useState("");
  const id = useId();
  const allowsFreeText = choices === null || free_text;
  const reply = [...chosen, ...(freeText.trim() ? [freeText.trim()] : [])].join(", ");
  const choose = (label: string, isChosen: boolean) => {
    const others = multiple ? chosen.filter((choice) => choice !== label) : [];
    setChosen(isChosen ? [...others, label] : others);
  };
  return (
    <form
      className="flex flex-col gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (reply) submitAnswer({ reply });
      }}
    >
      {choices && (
        <fieldset
          disabled={isDisabled || disabledReason !== undefined}
          className="flex flex-col gap-1"
        >
          <legend className="mb-1 text-sm text-muted">
            {multiple ? "Choose one or more" : "Choose one"}
          </legend>
          {choices.map(({ label, description }) => (
            <label
              key={label}
              className="flex cursor-pointer items-baseline gap-2 rounded border border-line bg-surface px-2 py-1.5 hover:bg-hover has-checked:border-accent"
            >
              <input
                type={multiple ? "checkbox" : "radio"}
                name={id}
                className="accent-accent"
                checked={chosen.includes(label)}
                onChange={(event) => choose(label, event.target.checked)}
              />
              <span className="font-medium">{escapeInvisible(label)}</span>
              <span className="text-sm text-muted">{escapeInvisible(description ?? "")}</span>
            </label>
          ))}
        </fieldset>
      )}
      <div className="flex gap-2">
        {allowsFreeText && (
          <>
            <label htmlFor={`${id}-text`} className="sr-only">
              Answer in your own words
            </label>
            <TextInput
              id={`${id}-text`}
              className="min-w-0 flex-1"
              placeholder={choices ? "Other answer" : "Your answer"}
              value={freeText}
              disabled={isDisabled || disabledReason !== undefined}
              onChange={(event) => {
                setFreeText(event.target.value);
                if (!multiple) setChosen([]);
              }}
            />
          </>
        )}
        <Button
          type="submit"
          variant="main"
          disabled={isDisabled || !reply}
          disabledReason={disabledReason}
        >
          Answer
        </Button>
      </div>
    </form>
  );
}
