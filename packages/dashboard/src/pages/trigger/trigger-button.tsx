import { lazy, Suspense, useState } from "react";
import { useReadOnlyReason } from "../../api/use-read-only-reason.ts";
import { Button } from "../../ui/button.tsx";

/** Loaded on demand to keep the first page small. */
const TriggerDialog = lazy(async () => {
  const { TriggerDialog } = await import("./trigger-dialog.tsx");
  return { default: TriggerDialog };
});

/** Without an agent, the dialog asks for one. */
export function TriggerButton({ agent }: { agent?: string }) {
  const [isOpen, setOpen] = useState(false);
  const readOnlyReason = useReadOnlyReason();
  return (
    <>
      <Button variant="main" disabledReason={readOnlyReason} onClick={() => setOpen(true)}>
        Trigger
      </Button>
      {isOpen && (
        <Suspense>
          <TriggerDialog agent={agent} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
