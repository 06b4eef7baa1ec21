import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, type KeyboardEvent, useState } from "react";
import { useAnswer, useTell } from "../../api/queries.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Select, TextArea } from "../../ui/field.tsx";
import { Labelled } from "../../ui/labelled.tsx";

interface TriggerDialogProps {
  /** Chosen already; can be changed. */
  agent?: string;
  onClose(): void;
}

export function TriggerDialog({ agent: given, onClose }: TriggerDialogProps) {
  const { data } = useAnswer("status");
  const agents = data?.agents ?? [];
  const [chosen, setChosen] = useState(given);
  const [schedule, setSchedule] = useState("");
  const [prompt, setPrompt] = useState("");
  const navigate = useNavigate();
  const trigger = useTell("trigger");
  const agent = agents.find(({ name }) => name === chosen) ?? agents[0];

  const send = (event?: FormEvent) => {
    event?.preventDefault();
    if (!agent || trigger.isPending) return;
    const body = {
      agent: agent.name,
      schedule: schedule || undefined,
      prompt: prompt.trim() || undefined,
      watched: true,
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
      note="It goes the way of every trigger: budgets and limits hold, and the job is on record before it starts."
    >
      <form onSubmit={send} className="flex flex-col gap-3">
        <div className="grid grid-cols-2 gap-3">
          <Labelled label="Agent">
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
          </Labelled>
          <Labelled label="As its schedule">
            {(id) => (
              <Select id={id} value={schedule} onChange={({ target }) => setSchedule(target.value)}>
                <option value="">none</option>
                {agent?.schedules.map(({ name }) => (
                  <option key={name}>{name}</option>
                ))}
              </Select>
            )}
          </Labelled>
        </div>
        <Labelled label="Prompt">
          {(id) => (
            <TextArea
              id={id}
              autoFocus
              rows={6}
              value={prompt}
              placeholder={
                schedule
                  ? "The prompt of the schedule, unless you write one"
                  : "What is to be done? Left empty, it is the agent's own prompt"
              }
              onChange={({ target }) => setPrompt(target.value)}
              onKeyDown={sendByKey}
            />
          )}
        </Labelled>
        {agent?.paused && (
          <p className="text-sm text-warn">
            {agent.name} is paused ({agent.paused.reason}): the job waits until it is resumed.
          </p>
        )}
        {trigger.error && <ErrorNote error={trigger.error} />}
        <div className="flex items-center justify-end gap-2">
          <span className="mr-auto text-sm text-muted">Ctrl or ⌘ + Enter sends</span>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="main" type="submit" disabled={!agent || trigger.isPending}>
            Trigger
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
