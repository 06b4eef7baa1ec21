import type { DueTimeQuery } from "@herdctl/protocol";
import { type CommandContext, textOption } from "../command.ts";
import { parseLimit } from "../parse-query-options.ts";
import { queryFleetOrState } from "../query-fleet-or-state.ts";
import { dueTableLines } from "../render/due-time-table.ts";
import { terminalStyleOf } from "../render/terminal-style.ts";

export async function run(context: CommandContext): Promise<number> {
  const { terminal, options } = context;
  const [agent, schedule] = context.arguments;
  const cursor = textOption(options, "cursor");
  const limit = parseLimit(textOption(options, "limit") ?? "20", "due times");
  const query: DueTimeQuery = { agent, schedule, cursor, limit };
  const page = await queryFleetOrState(
    context,
    (fleet) => fleet.schedules.dueTimes(query),
    (state) => state.schedules.listDueRecords(query),
  );
  if (terminal.isJson) {
    terminal.printJson(page);
    return 0;
  }
  const { due_times: records, next_cursor: next } = page;
  if (records.length === 0) terminal.print("No due times yet.");
  else for (const line of dueTableLines(records, terminalStyleOf(terminal))) terminal.print(line);
  if (next !== null) terminal.printNote(terminal.colors.dim(`More: add --cursor ${next}`));
  return 0;
}
