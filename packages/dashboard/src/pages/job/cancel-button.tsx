import type { Job } from "@herdctl/server/contract";
import { useState } from "react";
import { useFleetMutation } from "../../api/queries.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";

export function CancelButton({
  job,
  disabledReason,
}: {
  job: Job;
  disabledReason: string | undefined;
}) {
  const [isOpen, setOpen] = useState(false);
  const { mutate, isPending, error, reset } = useFleetMutation("cancel");
  const cancel = (force: boolean) =>
    mutate({ params: { id: job.id }, body: { force } }, { onSuccess: () => setOpen(false) });
  return (
    <>
      <Button variant="bad" disabledReason={disabledReason} onClick={() => setOpen(true)}>
        Cancel
      </Button>
      <Dialog
        open={isOpen}
        onOpenChange={(next) => {
          setOpen(next);
          reset();
        }}
        title="Cancel this job?"
        note="Asks the agent to stop and cancels the jobs it delegated. Force cancel stops the agent immediately."
      >
        {error && <ErrorNote error={error} />}
        <div className="mt-2 flex justify-end gap-2">
          <Button variant="quiet" onClick={() => setOpen(false)}>
            Keep running
          </Button>
          <Button variant="bad" disabled={isPending} onClick={() => cancel(true)}>
            Force cancel
          </Button>
          <Button variant="main" disabled={isPending} onClick={() => cancel(false)}>
            Cancel job
          </Button>
        </div>
      </Dialog>
    </>
  );
}
