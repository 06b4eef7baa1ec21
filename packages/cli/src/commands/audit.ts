import { type AuditQuery, auditActions, exitCodes } from "@herdctl/protocol";
import { type CommandContext, type ParsedOptions, textOption } from "../command.ts";
import { parseChoice, parseLimit, parseSince } from "../parse-query-options.ts";
import { readState } from "../read-state.ts";
import { auditTable } from "../render/access-tables.ts";
import { terminalStyleOf } from "../render/terminal-style.ts";

/** Reads the store directly, whether or not the fleet is running. */
export async function run(context: CommandContext): Promise<number> {
  const { options, terminal } = context;
  const now = new Date();
  const query = await parseQuery(options, now);
  const page = await readState(context, (state) => state.audit.list(query));
  if (terminal.isJson) {
    terminal.printJson(page);
    return exitCodes.success;
  }
  if (page.records.length === 0) terminal.print("No records found.");
  else for (const line of auditTable(page.records, terminalStyleOf(terminal))) terminal.print(line);
  if (page.next_cursor !== null) {
    terminal.printNote(terminal.colors.dim(`More: add --cursor ${page.next_cursor}`));
  }
  return exitCodes.success;
}

async function parseQuery(options: ParsedOptions, now: Date): Promise<AuditQuery> {
  return {
    since: await parseSince(textOption(options, "since"), now),
    identity: textOption(options, "identity"),
    action: parseChoice("action", textOption(options, "action"), auditActions),
    limit: parseLimit(textOption(options, "limit") ?? "50", "records"),
    cursor: textOption(options, "cursor"),
  };
}
