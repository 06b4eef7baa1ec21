import { type AuditQuery, auditActions, exitCodes, UserError } from "@herdctl/protocol";
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
  if (page.next !== null) {
    terminal.printNote(terminal.colors.dim(`More: add --cursor ${page.next}`));
  }
  return exitCodes.success;
}

async function parseQuery(options: ParsedOptions, now: Date): Promise<AuditQuery> {
  return {
    since: await parseSince(textOption(options, "since"), now),
    identity: textOption(options, "identity"),
    action: parseChoice("action", textOption(options, "action"), auditActions),
    limit: parseLimit(textOption(options, "limit") ?? "50", "records"),
    cursor: parseCursor(textOption(options, "cursor")),
  };
}

function parseCursor(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (Number.isInteger(number) && number > 0) return number;
  throw new UserError("usage", `"${text}" is not a record number`, {
    hint: "Use the number that the previous page printed after `--cursor`.",
  });
}
