import { useState } from "react";
import { useFleetMutation, useFleetQuery } from "../../api/queries.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { RelativeTime } from "../../ui/time.tsx";

export function SignOutAll() {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>Sign out everywhere…</Button>
      {isOpen && <SignOutDialog onClose={() => setOpen(false)} />}
    </>
  );
}

function SignOutDialog({ onClose }: { onClose(): void }) {
  const logins = useFleetQuery("logins").data?.logins ?? [];
  const signOut = useFleetMutation("endAllLogins");
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title="Sign out all browsers?"
      note="This includes the current browser. API tokens stay valid."
    >
      <ul className="mb-3 flex max-h-60 flex-col gap-1 overflow-y-auto text-sm">
        {logins.map(({ id, address, scope, signed_in_at, user_agent }) => (
          <li key={id} className="truncate" title={user_agent ?? undefined}>
            <span className="font-medium">login:{id.slice(0, 8)}</span>{" "}
            <span className="text-muted">
              {scope} from {address}, signed in <RelativeTime at={signed_in_at} />
            </span>
          </li>
        ))}
      </ul>
      {signOut.error && <ErrorNote error={signOut.error} />}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button
          variant="bad"
          disabled={signOut.isPending}
          onClick={() => signOut.mutate({}, { onSuccess: () => location.reload() })}
        >
          Sign out everywhere
        </Button>
      </div>
    </Dialog>
  );
}
