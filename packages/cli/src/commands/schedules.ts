import type { ScheduleView } from "@herdctl/protocol";
import type { CommandContext } from "../command.ts";
import { findFleet, resolveFleetFile } from "../find-fleet.ts";
import { queryFleetOrState } from "../query-fleet-or-state.ts";
import { sanitizeText } from "../render/sanitize-text.ts";
import { scheduleTableLines } from "../render/schedule-table.ts";
import { terminalStyleOf } from "../render/terminal-style.ts";

export async function run(context: CommandContext): Promise<number> {
  const { terminal } = context;
  const [agent] = context.arguments;
  const all = await listScheduleViews(context);
  const schedules = agent === undefined ? all : all.filter((one) => one.agent === agent);
  if (terminal.isJson) {
    terminal.printJson({ schedules });
    return 0;
  }
  if (schedules.length === 0) terminal.print("No schedules.");
  else
    for (const line of scheduleTableLines(schedules, new Date(), terminalStyleOf(terminal)))
      terminal.print(line);
  const fleet = await findFleet(context);
  const url = (await fleet?.status())?.fleet.url ?? undefined;
  fleet?.close();
  for (const line of webhookLines(context, schedules, url)) terminal.print(line);
  if (fleet === undefined && schedules.some(({ enabled }) => enabled))
    terminal.printNote(
      terminal.colors.yellow("! The fleet is not running, so no schedule runs: herdctl start"),
    );
  return 0;
}

/** The full addresses, which the sender needs. */
function webhookLines(
  context: CommandContext,
  schedules: readonly ScheduleView[],
  url: string | undefined,
): string[] {
  const webhooks = schedules.filter(({ type }) => type === "webhook");
  if (webhooks.length === 0) return [];
  const { bold, dim } = context.terminal.colors;
  const lines = webhooks.map(({ agent, schedule, when }) =>
    sanitizeText(`  ${agent} ${schedule}  ${url ?? ""}${when}`),
  );
  const isLocal =
    url !== undefined && ["127.0.0.1", "localhost", "[::1]"].includes(new URL(url).hostname);
  return [
    "",
    bold("Webhook URLs"),
    ...lines,
    ...(url === undefined ? [dim("  Start the fleet to see its address: herdctl start")] : []),
    ...(isLocal
      ? [dim("  A sender on the internet needs the address of your proxy or tunnel instead.")]
      : []),
  ];
}

function listScheduleViews(context: CommandContext): Promise<ScheduleView[]> {
  return queryFleetOrState(
    context,
    (fleet) => fleet.schedules.list(),
    async (state) => {
      const { loadFleet, viewSchedules } = await import("@herdctl/core/internal");
      return viewSchedules(
        loadFleet(resolveFleetFile(context), context.env).fleet,
        state,
        new Date(),
      );
    },
  );
}
