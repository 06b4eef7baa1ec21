import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Select, TextInput } from "../../ui/form-controls.tsx";
import { LabelledField } from "../../ui/labelled-field.tsx";
import { Panel } from "../../ui/panel.tsx";

const types = [
  { value: "interval", title: "Interval: every so often" },
  { value: "cron", title: "Cron: at times of the day or week" },
  { value: "at", title: "At: once" },
] as const;
export type ScheduleType = (typeof types)[number]["value"];

interface NewScheduleProps {
  /** The names that are taken. */
  names: string[];
  onAdd(name: string, type: ScheduleType): void;
}

/** Adds a schedule to the form. Its name and type cannot change later. */
export function NewSchedule({ names, onAdd }: NewScheduleProps) {
  const [name, setName] = useState("");
  const [type, setType] = useState<ScheduleType>("interval");
  const isUsable = name.trim() !== "" && !names.includes(name.trim());
  const add = () => {
    if (!isUsable) return;
    onAdd(name.trim(), type);
    setName("");
  };
  return (
    <Panel title="Add a schedule">
      <div className="flex flex-wrap items-end gap-3">
        <LabelledField label="Schedule name">
          {(id) => (
            <TextInput
              id={id}
              value={name}
              placeholder="nightly"
              onChange={({ target }) => setName(target.value)}
            />
          )}
        </LabelledField>
        <LabelledField label="Type">
          {(id) => (
            <Select
              id={id}
              value={type}
              onChange={({ target }) =>
                setType(types.find(({ value }) => value === target.value)?.value ?? "interval")
              }
            >
              {types.map(({ value, title }) => (
                <option key={value} value={value}>
                  {title}
                </option>
              ))}
            </Select>
          )}
        </LabelledField>
        <Button disabled={!isUsable} onClick={add}>
          Add schedule
        </Button>
      </div>
    </Panel>
  );
}
