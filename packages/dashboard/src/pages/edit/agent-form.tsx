import type { ConfigValueView } from "@herdctl/server/contract";
import { type ReactNode, useState } from "react";
import { useFleetQuery } from "../../api/queries.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Panel } from "../../ui/panel.tsx";
import { EditPreviewPanel } from "./edit-preview.tsx";
import { FieldControl } from "./field-control.tsx";
import {
  agentFields,
  describeField,
  type FormField,
  type FormTexts,
  keyOf,
  readTexts,
  scheduleFields,
  toChanges,
} from "./form-fields.ts";
import { NewSchedule, type ScheduleType } from "./new-schedule.tsx";
import { useEdit } from "./use-edit.ts";

interface AgentFormProps {
  agent: string;
  isNew: boolean;
  /** The resolved configuration of the agent; empty for a new one. */
  values: readonly ConfigValueView[];
  /** A field above the others, such as the name of a new agent. */
  children?: ReactNode;
  onSaved(): void;
}

interface ScheduleInForm {
  name: string;
  type: string;
  state: "configured" | "new" | "removed";
}

const plainFields = agentFields.flatMap(({ fields }) => fields);

/** A form for an agent and its schedules, with the change of the file beside it. */
export function AgentForm({ agent, isNew, values, children, onSaved }: AgentFormProps) {
  const schema = useFleetQuery("agentSchema").data;
  const [schedules, setSchedules] = useState(() => configuredSchedules(values));
  const [edited, setEdited] = useState<FormTexts>({});
  const kept = schedules.filter(({ state }) => state !== "removed");
  const fields = [...plainFields, ...kept.flatMap(({ name, type }) => scheduleFields(name, type))];
  const { texts: written, defaults } = readTexts(values, fields);
  const current = { ...written, ...edited };
  const changes = [
    ...schedules.flatMap(({ name, type, state }) => {
      if (state === "new") return [{ path: ["schedules", name, "type"], value: type }];
      return state === "removed" ? [{ path: ["schedules", name] }] : [];
    }),
    ...toChanges(fields, written, current),
  ];
  const { preview, apply, canSave, save } = useEdit({ agent, create: isNew, changes });
  const problems = preview.data?.problems ?? [];
  const fieldPaths = new Set(fields.map(({ path, resolvedPath }) => resolvedPath ?? keyOf(path)));
  const hasChanges = changes.length > 0 || (isNew && agent !== "");

  const control = (field: FormField, type?: string) => {
    const key = keyOf(field.path);
    const { description, choices } = describeField(schema, field.path, type);
    const own = problems.filter(({ path }) => path === key || path === field.resolvedPath);
    return (
      <FieldControl
        key={key}
        field={field}
        description={description}
        choices={choices}
        text={current[key] ?? ""}
        defaultText={defaults[key]}
        problems={own.map(({ message, hint }) => `${message}. ${hint}`)}
        onChange={(text) => setEdited((before) => ({ ...before, [key]: text }))}
      />
    );
  };
  const remove = (name: string) =>
    setSchedules((before) =>
      before.flatMap((one): ScheduleInForm[] => {
        if (one.name !== name) return [one];
        return one.state === "new" ? [] : [{ ...one, state: "removed" }];
      }),
    );
  const add = (name: string, type: ScheduleType) =>
    setSchedules((before) => [...before, { name, type, state: "new" }]);

  return (
    <form
      className="grid items-start gap-4 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]"
      onSubmit={(event) => {
        event.preventDefault();
        if (canSave) save(onSaved);
      }}
    >
      <div className="flex min-w-0 flex-col gap-4">
        {children}
        {agentFields.map(({ title, fields: group }) => (
          <Panel key={title} title={title}>
            <div className="grid gap-3 sm:grid-cols-2">{group.map((field) => control(field))}</div>
          </Panel>
        ))}
        {kept.map(({ name, type }) => (
          <Panel
            key={name}
            title={`Schedule ${name}`}
            aside={
              <span className="flex items-center gap-3">
                {type}
                <Button size="small" onClick={() => remove(name)}>
                  Remove
                </Button>
              </span>
            }
          >
            <div className="grid gap-3 sm:grid-cols-2">
              {scheduleFields(name, type).map((field) => control(field, type))}
            </div>
          </Panel>
        ))}
        <NewSchedule names={schedules.map(({ name }) => name)} onAdd={add} />
      </div>
      <div className="flex min-w-0 flex-col gap-3 lg:sticky lg:top-4">
        <EditPreviewPanel
          preview={hasChanges ? preview.data : undefined}
          error={hasChanges ? preview.error : null}
          shownPaths={fieldPaths}
        />
        {apply.error && (
          <ErrorNote
            error={apply.error}
            onRetry={() => {
              apply.reset();
              void preview.refetch();
            }}
          />
        )}
        <div className="flex justify-end">
          <Button type="submit" variant="main" disabled={!canSave || apply.isPending}>
            {isNew ? "Add agent" : "Save"}
          </Button>
        </div>
      </div>
    </form>
  );
}

function configuredSchedules(values: readonly ConfigValueView[]): ScheduleInForm[] {
  return values.flatMap(({ path, value }) => {
    const name = /^schedules\.([^.[]+)\.type$/.exec(path)?.[1];
    return name === undefined ? [] : [{ name, type: String(value), state: "configured" as const }];
  });
}
