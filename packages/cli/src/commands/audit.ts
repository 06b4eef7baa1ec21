import type { AuditQuery } from "@herdctl/core";
import { auditActions, exitCodes, UserError } from "@herdctl/core/light";
import { type Call, type Options, textOption } from "../command.ts";
import { limitOf, oneOf, sinceOf } from "../read-query.ts";
import { readState } from "../read-state.ts";
import { auditTable } from "../show/access-tables.ts";
import { lookOf } from "../show/look.ts";

/** Read from the store itself, whether or not a fleet runs. */
export async function run(call: Call): Promise<number> {
  const { options, terminal } = call;
  const now = new Date();
  const query = await queryOf(options, now);
  const page = await readState(call, (state) => state.audit.list(query));
  if (terminal.json) {
    terminal.printJson(page);
    return exitCodes.success;
  }
  if (page.records.length === 0) terminal.print("No records.");
  else for (const line of auditTable(page.records, lookOf(terminal))) terminal.print(line);
  if (page.next !== null) {
    terminal.note(terminal.colors.dim(`There are more: add --cursor ${page.next}`));
  }
  return exitCodes.success;
}

async function queryOf(options: Options, now: Date): Promise<AuditQuery> {
  return {
    since: await sinceOf(textOption(options, "since"), now),
    identity: textOption(options, "identity"),
    action: oneOf("action", textOption(options, "action"), auditActions),
    limit: limitOf(textOption(options, "limit") ?? "50", "records"),
    cursor: cursorOf(textOption(options, "cursor")),
  };
}

function cursorOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (Number.isInteger(number) && number > 0) return number;
  throw new UserError("usage", `"${text}" is not the number of a record`);
}
