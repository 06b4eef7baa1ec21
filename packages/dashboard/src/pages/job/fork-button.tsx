import { Button } from "../../ui/button.tsx";
import { useJobView } from "./job-view-context.ts";

/** Forks the session after a message of the main agent or the user. */
export function ForkButton({ uuid }: { uuid: string | null }) {
  const { fork, disabledReason } = useJobView();
  if (uuid === null) return null;
  return (
    <span className="absolute -top-1 right-0 opacity-0 group-hover:opacity-100 focus-within:opacity-100 pointer-coarse:static pointer-coarse:opacity-100">
      <Button
        size="small"
        disabledReason={disabledReason}
        onClick={() => fork(uuid)}
        className="pointer-coarse:border-transparent pointer-coarse:text-muted"
      >
        Fork from here
      </Button>
    </span>
  );
}
