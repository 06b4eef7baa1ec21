import type { Job } from "@herdctl/server/contract";
import { useNavigate } from "@tanstack/react-router";
import { useId, useState } from "react";
import { useTell } from "../../api/queries.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { TextArea } from "../../ui/field.tsx";

/** How to go on: in the session, or in a copy of it, as far as the message `at`. */
export type Wish = { kind: "resume" } | { kind: "fork"; at?: string };

interface ContinueDialogProps {
  job: Job;
  wish: Wish | undefined;
  onClose(): void;
}

export function ContinueDialog({ job, wish, onClose }: ContinueDialogProps) {
  const [prompt, setPrompt] = useState("");
  const { mutate, isPending, error, reset } = useTell("trigger");
  const navigate = useNavigate();
  const id = useId();
  const close = () => {
    reset();
    onClose();
  };
  const go = () => {
    if (!wish) return;
    const body = {
      trigger: "manual" as const,
      agent: job.agent,
      prompt,
      watched: true,
      expand: true,
    };
    mutate(
      { body: { ...body, ...sessionOf(job, wish) } },
      {
        onSuccess: ({ job: { id: jobId } }) => {
          setPrompt("");
          close();
          void navigate({ to: "/jobs/$jobId", params: { jobId }, search: {} });
        },
      },
    );
  };
  const isFork = wish?.kind === "fork";
  return (
    <Dialog
      open={wish !== undefined}
      onOpenChange={(isOpen) => {
        if (!isOpen) close();
      }}
      title={isFork ? "Fork this session" : "Go on with this session"}
      note={wish && notes[wish.kind === "resume" ? "resume" : wish.at ? "at" : "fork"]}
    >
      <form
        className="flex flex-col gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          go();
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
            if (event.key === "Enter" && (event.metaKey || event.ctrlKey) && prompt.trim()) go();
          }}
        />
        {error && <ErrorNote error={error} />}
        <div className="flex justify-end gap-2">
          <Button look="quiet" onClick={close}>
            Not now
          </Button>
          <Button type="submit" look="main" disabled={isPending || prompt.trim() === ""}>
            {isFork ? "Fork" : "Resume"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

const notes = {
  resume: "A new job of the same agent, which remembers all of this conversation.",
  fork: "A new session that begins as a copy of this one. This one stays as it is.",
  at: "A new session that knows what came up to and with this message, and nothing after it.",
};

function sessionOf(job: Job, wish: Wish) {
  return wish.kind === "resume" ? { resume: job.id } : { fork: job.id, forkAt: wish.at };
}
