import type { Job } from "@herdctl/server/contract";
import { useNavigate } from "@tanstack/react-router";
import { useId, useState } from "react";
import { useFleetMutation } from "../../api/queries.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { TextArea } from "../../ui/form-controls.tsx";

/** Resume the session, or fork a copy of it, optionally only up to the message `at`. */
export type ContinueMode = { kind: "resume" } | { kind: "fork"; at?: string };

interface ContinueDialogProps {
  job: Job;
  mode: ContinueMode | undefined;
  onClose(): void;
}

export function ContinueDialog({ job, mode, onClose }: ContinueDialogProps) {
  const [prompt, setPrompt] = useState("");
  const { mutate, isPending, error, reset } = useFleetMutation("trigger");
  const navigate = useNavigate();
  const id = useId();
  const close = () => {
    reset();
    onClose();
  };
  const submit = () => {
    if (!mode) return;
    const body = {
      agent: job.agent,
      prompt,
      stream: true,
      expand: true,
    };
    mutate(
      { body: { ...body, ...sessionParams(job, mode) } },
      {
        onSuccess: ({ job: { id: jobId } }) => {
          setPrompt("");
          close();
          void navigate({ to: "/jobs/$jobId", params: { jobId }, search: {} });
        },
      },
    );
  };
  const isFork = mode?.kind === "fork";
  return (
    <Dialog
      open={mode !== undefined}
      onOpenChange={(isOpen) => {
        if (!isOpen) close();
      }}
      title={isFork ? "Fork this session" : "Resume this session"}
      note={mode && notes[mode.kind === "resume" ? "resume" : mode.at ? "at" : "fork"]}
    >
      <form
        className="flex flex-col gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <label htmlFor={id} className="text-sm font-medium">
          Prompt
        </label>
        <TextArea
          id={id}
          value={prompt}
          required
          onChange={(event) => setPrompt(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.metaKey || event.ctrlKey) && prompt.trim())
              submit();
          }}
        />
        {error && <ErrorNote error={error} />}
        <div className="flex justify-end gap-2">
          <Button variant="quiet" onClick={close}>
            Cancel
          </Button>
          <Button type="submit" variant="main" disabled={isPending || prompt.trim() === ""}>
            {isFork ? "Fork" : "Resume"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

const notes = {
  resume: "Starts a new job of the same agent that remembers this conversation.",
  fork: "Starts a new session as a copy of this one. This session does not change.",
  at: "Starts a new session with everything up to and including this message.",
};

function sessionParams(job: Job, mode: ContinueMode) {
  return mode.kind === "resume" ? { resume: job.id } : { fork: job.id, fork_point: mode.at };
}
