import type { Job } from "@herdctl/server/contract";
import { useState } from "react";
import { useTell } from "../../api/queries.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";

export function CancelButton({ job, obstacle }: { job: Job; obstacle: string | undefined }) {
  const [isOpen, setOpen] = useState(false);
  const { mutate, isPending, error, reset } = useTell("cancel");
  const cancel = (force: boolean) =>
    mutate({ params: { id: job.id }, body: { force } }, { onSuccess: () => setOpen(false) });
  return (
    <>
      <Button look="bad" obstacle={obstacle} onClick={() => setOpen(true)}>
        Cancel
      </Button>
      <Dialog
        open={isOpen}
        onOpenChange={(next) => {
          setOpen(next);
          reset();
        }}
        title="Cancel this job?"
        note="The agent is asked to stop, and what it handed on ends with it. Forced, it is not asked."
      >
        {error && <ErrorNote error={error} />}
        <div className="mt-2 flex justify-end gap-2">
          <Button look="quiet" onClick={() => setOpen(false)}>
            Let it work
          </Button>
          <Button look="bad" disabled={isPending} onClick={() => cancel(true)}>
            Force
          </Button>
          <Button look="main" disabled={isPending} onClick={() => cancel(false)}>
            Cancel the job
          </Button>
        </div>
      </Dialog>
    </>
  );
}
