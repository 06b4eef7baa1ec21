import { type Approval, visible } from "@herdctl/server/contract";
import { useId, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { TextInput } from "../../ui/field.tsx";
import type { Said } from "./said.ts";

interface QuestionFormProps {
  approval: Approval;
  isClosed: boolean;
  obstacle: string | undefined;
  say(said: Said): void;
}

/** Choices of which one, or several, may be taken, and words of one's own where they count. */
export function QuestionForm({ approval, isClosed, obstacle, say }: QuestionFormProps) {
  const { choices, several, free_text } = approval;
  const [chosen, setChosen] = useState<string[]>([]);
  const [words, setWords] = useState("");
  const id = useId();
  const isFree = choices === null || free_text;
  const reply = [...chosen, ...(words.trim() ? [words.trim()] : [])].join(", ");
  const choose = (label: string, isChosen: boolean) => {
    const others = several ? chosen.filter((one) => one !== label) : [];
    setChosen(isChosen ? [...others, label] : others);
  };
  return (
    <form
      className="flex flex-col gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (reply) say({ reply });
      }}
    >
      {choices && (
        <fieldset disabled={isClosed || obstacle !== undefined} className="flex flex-col gap-1">
          <legend className="mb-1 text-sm text-muted">
            {several ? "Choose any number" : "Choose one"}
          </legend>
          {choices.map(({ label, description }) => (
            <label
              key={label}
              className="flex cursor-pointer items-baseline gap-2 rounded border border-line bg-surface px-2 py-1.5 hover:bg-hover has-checked:border-accent"
            >
              <input
                type={several ? "checkbox" : "radio"}
                name={id}
                className="accent-accent"
                checked={chosen.includes(label)}
                onChange={(event) => choose(label, event.target.checked)}
              />
              <span className="font-medium">{visible(label)}</span>
              <span className="text-sm text-muted">{visible(description ?? "")}</span>
            </label>
          ))}
        </fieldset>
      )}
      <div className="flex gap-2">
        {isFree && (
          <>
            <label htmlFor={`${id}-words`} className="sr-only">
              Answer in your own words
            </label>
            <TextInput
              id={`${id}-words`}
              className="min-w-0 flex-1"
              placeholder={choices ? "Or something else" : "Your answer"}
              value={words}
              disabled={isClosed || obstacle !== undefined}
              onChange={(event) => {
                setWords(event.target.value);
                if (!several) setChosen([]);
              }}
            />
          </>
        )}
        <Button type="submit" look="main" disabled={isClosed || !reply} obstacle={obstacle}>
          Answer
        </Button>
      </div>
    </form>
  );
}
