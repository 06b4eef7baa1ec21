import type { ScheduleView } from "@herdctl/server/contract";
import { useNavigate } from "@tanstack/react-router";
import { useFleetMutation } from "../../api/queries.ts";
import { useReadOnlyReason } from "../../api/use-read-only-reason.ts";
import { Button } from "../../ui/button.tsx";

/** Runs a schedule now, in addition to its due times, and opens the job. */
export function RunNowButton({ schedule: { agent, schedule } }: { schedule: ScheduleView }) {
  const readOnlyReason = useReadOnlyReason();
  const navigate = useNavigate();
  const { mutate, isPending, error } = useFleetMutation("trigger");
  const run = () =>
    mutate(
      { body: { agent, schedule, stream: true } },
      {
        onSuccess: ({ job }) => void navigate({ to: "/jobs/$jobId", params: { jobId: job.id } }),
      },
    );
  return (
    <Button
      size="small"
      disabledReason={readOnlyReason}
      disabled={isPending}
      title={error?.message}
      onClick={run}
    >
      {error ? "Failed" : "Run now"}
    </Button>
  );
}
