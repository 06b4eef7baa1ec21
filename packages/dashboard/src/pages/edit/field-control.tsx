import { useId } from "react";
import { Select, TextArea, TextInput } from "../../ui/form-controls.tsx";
import { sentenceCase } from "../../ui/sentence-case.ts";
import { TextWithCode } from "../../ui/text-with-code.tsx";
import type { FormField } from "./form-fields.ts";

interface FieldControlProps {
  field: FormField;
  description: string;
  choices: string[];
  text: string;
  /** The value that applies if the file sets none. */
  defaultText: string | undefined;
  problems: string[];
  onChange(text: string): void;
}

export function FieldControl(props: FieldControlProps) {
  const { field, description, choices, text, defaultText, problems, onChange } = props;
  const id = useId();
  const shared = {
    id,
    value: text,
    "aria-invalid": problems.length > 0,
    "aria-describedby": `${id}-about`,
    onChange: ({ target }: { target: { value: string } }) => onChange(target.value),
  };
  const placeholder = defaultText === undefined ? undefined : `Default: ${defaultText}`;
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="font-medium">
        {labelOf(field.path)}
      </label>
      {field.kind === "choice" ? (
        <Select {...shared} className="w-full">
          <option value="">{placeholder ?? "Not set"}</option>
          {choices.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </Select>
      ) : field.kind === "prompt" || field.kind === "list" ? (
        <TextArea {...shared} rows={field.kind === "list" ? 3 : 4} placeholder={placeholder} />
      ) : (
        <TextInput
          {...shared}
          placeholder={placeholder}
          inputMode={field.kind === "number" ? "decimal" : undefined}
        />
      )}
      <div id={`${id}-about`} className="text-sm">
        <p className="text-muted">
          <TextWithCode text={description} />
          {field.kind === "list" && " One per line."}
        </p>
        {problems.map((problem) => (
          <p key={problem} className="text-bad">
            <TextWithCode text={problem} />
          </p>
        ))}
      </div>
    </div>
  );
}

/** A block names its fields, such as `Session mode`. A schedule has its own panel. */
function labelOf(path: readonly string[]): string {
  return sentenceCase((path[0] === "schedules" ? path.slice(-1) : path).join(" "));
}
