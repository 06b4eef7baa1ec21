import { Switch } from "@base-ui/react/switch";
import type { ScheduleView } from "@herdctl/server/contract";
import { useFleetMutation } from "../../api/queries.ts";
import { useReadOnlyReason } from "../../api/use-read-only-reason.ts";

export function ScheduleSwitch({
  schedule: { agent, schedule, enabled },
}: {
  schedule: ScheduleView;
}) {
  const readOnlyReason = useReadOnlyReason();
  const switchSchedule = useFleetMutation("updateSchedule");
  const change = (next: boolean) =>
    switchSchedule.mutate({ params: { agent, schedule }, body: { enabled: next } });
  return (
    <span
      className="flex items-center gap-2"
      title={readOnlyReason ?? switchSchedule.error?.message}
    >
      {switchSchedule.error ? "Failed" : enabled ? "Enabled" : "Disabled"}
      <Switch.Root
        checked={enabled}
        onCheckedChange={change}
        disabled={readOnlyReason !== undefined || switchSchedule.isPending}
        aria-label={`Schedule ${schedule}`}
        className="flex h-5 w-9 rounded-full border border-line-strong bg-idle-soft p-px data-checked:bg-accent data-disabled:opacity-50"
      >
        <Switch.Thumb className="size-4 rounded-full bg-surface transition-transform data-checked:translate-x-4" />
      </Switch.Root>
    </span>
  );
}
