import type { Block } from "./block.ts";

/** The `schedules` block of an agent. */
export function translateSchedules(schedules: Block): void {
  for (const name of schedules.keys) {
    const schedule = schedules.block(name);
    if (schedule) translateSchedule(schedules, name, schedule);
  }
}

function translateSchedule(schedules: Block, name: string, schedule: Block): void {
  if (schedule.isImport && schedule.text("type") === "webhook" && !schedule.has("signature")) {
    schedules.drop(
      "decision",
      name,
      "a webhook schedule needs a `signature` here, so that not everybody can start the agent; see the guide on webhooks",
    );
    return;
  }
  if (!schedule.has("every")) schedule.rename("interval", "every");
  if (!schedule.has("cron")) schedule.rename("expression", "cron");
  schedule.drop("ignored", "expression", "`cron` takes its place");
  for (const key of ["outputToFile", "output_to_file"])
    schedule.drop("ignored", key, "the output of every job is kept; see `herdctl logs`");
  schedule.drop(
    "decision",
    "work_source",
    "a work source belongs to the agent here, not to a schedule",
  );
}
