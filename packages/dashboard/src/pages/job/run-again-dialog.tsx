import type { Job } from "@herdctl/server/contract";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useFleetMutation, useFleetQuery } from "../../api/queries.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { SegmentedControl } from "../../ui/segmented-control.tsx";
import { FoldedPrompt } from "./folded-text.tsx";

const sessionChoices = [
  { value: "fresh", title: "New session" },
  { value: "resume", title: "Same session" },
];

/** Triggers the agent with the prompt of a job, in a new session or in the job's. */
export function RunAgainDialog({ job, onClose }: { job: Job; onClose(): void }) {
  const [choice, setChoice] = useState("fresh");
  const agents = useFleetQuery("status").data?.agents ?? [];
  const trigger = useFleetMutation("trigger");
  const navigate = useNavigate();
  const agent = agents.find(({ name }) => name === job.agent);
  // A schedule that was removed since then cannot be named.
  const schedule = agent?.schedules.find(({ name }) => name === job.schedule)?.name;
  const submit = () => {
    const body = {
      agent: job.agent,
      schedule,
      prompt: job.prompt,
      stream: true,
      expand: job.expand_prompt || undefined,
      resume: choice === "resume" ? job.id : undefined,
    };
    trigger.mutate(
      { body },
      {
        onSuccess: ({ job: { id: jobId } }) => {
          onClose();
          void navigate({ to: "/jobs/$jobId", params: { jobId }, search: {} });
        },
      },
    );
  };
  return (
    <Dialog
      open
      onOpenChange={(isOpen) => !isOpen && onClose()}
      title="Run again"
      note="Starts a new job with the same prompt. Budgets and limits apply as for every job."
    >
      <div className="flex flex-col gap-3">
        {job.session_id !== null && (
          <SegmentedControl
            label="Session"
            value={choice}
            options={sessionChoices}
            onChange={setChoice}
          />
        )}
        <FoldedPrompt text={job.prompt} />
        {trigger.error && <ErrorNote error={trigger.error} />}
        <div className="flex justify-end gap-2">
          <Button variant="quiet" onClick={onClose}>
            Cancel
          </Button>
          <Button variant="main" disabled={trigger.isPending} onClick={submit}>
            Run again
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
