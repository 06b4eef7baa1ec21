import { Switch } from "@base-ui/react/switch";
import type { ScheduleView } from "@herdctl/server/contract";
import { useReadOnly } from "../../api/access.ts";
import { useTell } from "../../api/queries.ts";

export function ScheduleSwitch({
  schedule: { agent, schedule, enabled },
}: {
  schedule: ScheduleView;
}) {
  const readOnly = useReadOnly();
  const tell = useTell("switchSchedule");
  const change = (next: boolean) =>
    tell.mutate({ params: { agent, schedule }, body: { enabled: next } });
  return (
    <span className="flex items-center gap-2" title={readOnly ?? tell.error?.message}>
      {tell.error ? "not switched" : enabled ? "on" : "off"}
      <Switch.Root
        checked={enabled}
        onCheckedChange={change}
        disabled={readOnly !== undefined || tell.isPending}
        aria-label={`Schedule ${schedule}`}
        className="flex h-5 w-9 rounded-full border border-line-strong bg-idle-soft p-px data-checked:bg-accent data-disabled:opacity-50"
      >
        <Switch.Thumb className="size-4 rounded-full bg-surface transition-transform data-checked:translate-x-4" />
      </Switch.Root>
    </span>
  );
}
