import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, type KeyboardEvent, useState } from "react";
import { useFleetMutation, useFleetQuery } from "../../api/queries.ts";
import { modifierKey } from "../../app/platform-keys.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Select, TextArea } from "../../ui/form-controls.tsx";
import { LabelledField } from "../../ui/labelled-field.tsx";
import { capitalize } from "../../ui/sentence-case.ts";

interface TriggerDialogProps {
  /** The preselected agent. */
  agent?: string;
  onClose(): void;
}

export function TriggerDialog({ agent: initialAgent, onClose }: TriggerDialogProps) {
  const { data } = useFleetQuery("status");
  const agents = data?.agents ?? [];
  const [chosen, setChosen] = useState(initialAgent);
  const [schedule, setSchedule] = useState("");
  const [prompt, setPrompt] = useState("");
  const navigate = useNavigate();
  const trigger = useFleetMutation("trigger");
  const agent = agents.find(({ name }) => name === chosen) ?? agents[0];

  const send = (event?: FormEvent) => {
    event?.preventDefault();
    if (!agent || trigger.isPending) return;
    const body = {
      agent: agent.name,
      schedule: schedule || undefined,
      prompt: prompt.trim() || undefined,
      stream: true,
    };
    trigger.mutate(
      { body },
      {
        onSuccess: ({ job }) => {
          onClose();
          void navigate({ to: "/jobs/$jobId", params: { jobId: job.id } });
        },
      },
    );
  };
  const sendByKey = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) send();
  };

  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title="Trigger an agent"
      note="Budgets and limits apply as for every job."
    >
      <form onSubmit={send} className="flex flex-col gap-3">
        <div className="grid grid-cols-2 gap-3">
          <LabelledField label="Agent">
            {(id) => (
              <Select
                id={id}
                value={agent?.name ?? ""}
                onChange={({ target }) => {
                  setChosen(target.value);
                  setSchedule("");
                }}
              >
                {agents.map(({ name }) => (
                  <option key={name}>{name}</option>
                ))}
              </Select>
            )}
          </LabelledField>
          <LabelledField label="Schedule">
            {(id) => (
              <Select id={id} value={schedule} onChange={({ target }) => setSchedule(target.value)}>
                <option value="">None</option>
                {agent?.schedules.map(({ name }) => (
                  <option key={name}>{name}</option>
                ))}
              </Select>
            )}
          </LabelledField>
        </div>
        <LabelledField label="Prompt">
          {(id) => (
            <TextArea
              id={id}
              autoFocus
              rows={6}
              value={prompt}
              placeholder={
                schedule
                  ? "Leave empty to use the schedule's prompt"
                  : "Leave empty to use the agent's default prompt"
              }
              onChange={({ target }) => setPrompt(target.value)}
              onKeyDown={sendByKey}
            />
          )}
        </LabelledField>
        {agent?.paused && (
          <p className="text-sm text-warn">
            {capitalize(agent.paused.reason)}. The job waits until {agent.name} is resumed.
          </p>
        )}
        {trigger.error && <ErrorNote error={trigger.error} />}
        <div className="flex items-center justify-end gap-2">
          <span className="mr-auto text-sm text-muted">{modifierKey}Enter to send</span>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="main" type="submit" disabled={!agent || trigger.isPending}>
            Trigger
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
