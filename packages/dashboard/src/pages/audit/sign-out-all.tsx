import { useState } from "react";
import { useAnswer, useTell } from "../../api/queries.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Ago } from "../../ui/time.tsx";

export function SignOutAll() {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>Sign out everywhere …</Button>
      {isOpen && <SignOutDialog onClose={() => setOpen(false)} />}
    </>
  );
}

function SignOutDialog({ onClose }: { onClose(): void }) {
  const logins = useAnswer("logins").data?.logins ?? [];
  const signOut = useTell("endAllLogins");
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title="Sign out every browser?"
      note="This one, too. Tokens of programs stay valid."
    >
      <ul className="mb-3 flex max-h-60 flex-col gap-1 overflow-y-auto text-sm">
        {logins.map(({ id, address, scope, signed_in_at, user_agent }) => (
          <li key={id} className="truncate" title={user_agent ?? undefined}>
            <span className="font-medium">login:{id.slice(0, 8)}</span>{" "}
            <span className="text-muted">
              {scope} from {address}, signed in <Ago at={signed_in_at} />
            </span>
          </li>
        ))}
      </ul>
      {signOut.error && <ErrorNote error={signOut.error} />}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button
          look="bad"
          disabled={signOut.isPending}
          onClick={() => signOut.mutate({}, { onSuccess: () => location.reload() })}
        >
          Sign out everywhere
        </Button>
      </div>
    </Dialog>
  );
}
