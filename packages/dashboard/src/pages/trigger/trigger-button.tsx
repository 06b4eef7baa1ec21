import { lazy, Suspense, useState } from "react";
import { useReadOnly } from "../../api/access.ts";
import { Button } from "../../ui/button.tsx";

/** The button stands on the first page, which is to be there quickly. */
const TriggerDialog = lazy(async () => {
  const { TriggerDialog } = await import("./trigger-dialog.tsx");
  return { default: TriggerDialog };
});

/** For an agent, or for one that is still to be chosen. */
export function TriggerButton({ agent }: { agent?: string }) {
  const [isOpen, setOpen] = useState(false);
  const readOnly = useReadOnly();
  return (
    <>
      <Button look="main" obstacle={readOnly} onClick={() => setOpen(true)}>
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
