import { Button } from "../../ui/button.tsx";
import { useJobView } from "./job-view.ts";

/** On what the main agent said or was told; a fork takes over all up to there. */
export function ForkHere({ uuid }: { uuid: string | null }) {
  const { fork, obstacle } = useJobView();
  if (uuid === null) return null;
  return (
    <span className="absolute -top-1 right-0 opacity-0 group-hover:opacity-100 focus-within:opacity-100 pointer-coarse:static pointer-coarse:opacity-100">
      <Button
        size="small"
        obstacle={obstacle}
        onClick={() => fork(uuid)}
        className="pointer-coarse:border-transparent pointer-coarse:text-muted"
      >
        Fork from here
      </Button>
    </span>
  );
}
