import type { AgentStatus } from "@herdctl/server/contract";
import { useFleetMutation } from "../../api/queries.ts";
import { useReadOnlyReason } from "../../api/use-read-only-reason.ts";
import { Button } from "../../ui/button.tsx";

export function PauseButton({ agent: { name, paused } }: { agent: AgentStatus }) {
  const readOnlyReason = useReadOnlyReason();
  const pause = useFleetMutation("pauseAgent");
  const resume = useFleetMutation("resumeAgent");
  const { mutate, isPending, error } = paused ? resume : pause;
  return (
    <Button
      disabledReason={readOnlyReason}
      disabled={isPending}
      title={
        error?.message ??
        (paused ? "Start jobs again" : "Stop starting jobs; running jobs continue")
      }
      onClick={() => mutate({ params: { agent: name } })}
    >
      {paused ? "Resume" : "Pause"}
    </Button>
  );
}
