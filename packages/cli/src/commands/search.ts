import { type JobSearchQuery, UserError } from "@herdctl/protocol";
import { type CommandContext, textOption } from "../command.ts";
import { parseLimit } from "../parse-query-options.ts";
import { queryFleetOrState } from "../query-fleet-or-state.ts";
import { searchHitLines } from "../render/search-hits.ts";
import { terminalStyleOf } from "../render/terminal-style.ts";

export async function run(context: CommandContext): Promise<number> {
  const { options, terminal } = context;
  const [text = ""] = context.arguments;
  if (text.trim() === "") throw new UserError("usage", "the text to search for is missing");
  const query: JobSearchQuery = {
    text,
    agent: textOption(options, "agent"),
    limit: parseLimit(textOption(options, "limit") ?? "20", "jobs"),
    cursor: textOption(options, "cursor"),
  };
  const { hits, next_cursor: next } = await queryFleetOrState(
    context,
    (fleet) => fleet.jobs.search(query),
    (state) => state.search.search(query),
  );
  if (terminal.isJson) {
    terminal.printJson({ hits, next_cursor: next });
    return 0;
  }
  if (hits.length === 0) terminal.print("No jobs match.");
  for (const line of searchHitLines(hits, new Date(), terminalStyleOf(terminal)))
    terminal.print(line);
  if (next !== null) terminal.printNote(terminal.colors.dim(`More: add --cursor ${next}`));
  return 0;
}
