import { type JobQuery, jobStatuses, type OutcomeCode, outcomes } from "@herdctl/protocol";
import { type CommandContext, type ParsedOptions, textOption } from "../command.ts";
import { explainWaits } from "../explain-job-wait.ts";
import { parseChoice, parseLimit, parseSince } from "../parse-query-options.ts";
import { queryFleetOrState } from "../query-fleet-or-state.ts";
import { jobTableLines } from "../render/job-table.ts";
import { terminalStyleOf } from "../render/terminal-style.ts";

export async function run(context: CommandContext): Promise<number> {
  const { options, terminal } = context;
  const now = new Date();
  const query = await parseQuery(options, now);
  const page = await queryFleetOrState(
    context,
    (fleet) => fleet.jobs.list(query),
    (state) => state.jobs.list(query),
  );
  if (terminal.isJson) {
    terminal.printJson(page);
    return 0;
  }
  const { jobs, next_cursor: next } = page;
  if (jobs.length === 0) {
    const isFiltered = Object.keys(query).some((key) => key !== "limit");
    terminal.print(isFiltered ? "No jobs match." : "No jobs yet.");
    return 0;
  }
  const explain = await explainWaits(context, jobs);
  for (const line of jobTableLines(jobs, now, terminalStyleOf(terminal), explain))
    terminal.print(line);
  if (next !== null) terminal.printNote(terminal.colors.dim(`More: add --cursor ${next}`));
  return 0;
}

async function parseQuery(options: ParsedOptions, now: Date): Promise<JobQuery> {
  const filters = {
    agent: textOption(options, "agent"),
    status: parseChoice("status", textOption(options, "status"), jobStatuses),
    outcome: parseChoice("outcome", textOption(options, "outcome"), outcomeCodes),
    since: await parseSince(textOption(options, "since"), now),
    cursor: textOption(options, "cursor"),
  };
  const present = Object.entries(filters).filter(([, value]) => value !== undefined);
  return {
    limit: parseLimit(textOption(options, "limit") ?? "20", "jobs"),
    ...Object.fromEntries(present),
  };
}

const outcomeCodes = Object.keys(outcomes).filter((code): code is OutcomeCode => code in outcomes);
