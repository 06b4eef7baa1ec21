import { useState } from "react";
import { useReadOnly } from "../../api/access.ts";
import { Button } from "../../ui/button.tsx";
import { TriggerDialog } from "./trigger-dialog.tsx";

/** For an agent, or for one that is still to be chosen. */
export function TriggerButton({ agent }: { agent?: string }) {
  const [isOpen, setOpen] = useState(false);
  const readOnly = useReadOnly();
  return (
    <>
      <Button look="main" obstacle={readOnly} onClick={() => setOpen(true)}>
        Trigger
      </Button>
      {isOpen && <TriggerDialog agent={agent} onClose={() => setOpen(false)} />}
    </>
  );
}
