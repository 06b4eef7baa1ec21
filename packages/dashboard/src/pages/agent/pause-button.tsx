import type { AgentStatus } from "@herdctl/server/contract";
import { useReadOnly } from "../../api/access.ts";
import { useTell } from "../../api/queries.ts";
import { Button } from "../../ui/button.tsx";

export function PauseButton({ agent: { name, paused } }: { agent: AgentStatus }) {
  const readOnly = useReadOnly();
  const pause = useTell("pauseAgent");
  const resume = useTell("resumeAgent");
  const { mutate, isPending, error } = paused ? resume : pause;
  return (
    <Button
      obstacle={readOnly}
      disabled={isPending}
      title={
        error?.message ??
        (paused ? "Lets it start jobs again" : "Starts no more jobs; those that run go on")
      }
      onClick={() => mutate({ params: { agent: name } })}
    >
      {paused ? "Resume" : "Pause"}
    </Button>
  );
}
