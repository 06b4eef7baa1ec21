import type { JobQuery, OutcomeCode } from "@herdctl/core";
import { jobStatuses, outcomes } from "@herdctl/core/light";
import { askFleet } from "../ask-fleet.ts";
import { type Call, type Options, textOption } from "../command.ts";
import { limitOf, oneOf, sinceOf } from "../read-query.ts";
import { jobTable } from "../show/job-table.ts";
import { lookOf } from "../show/look.ts";

export async function run(call: Call): Promise<number> {
  const { options, terminal } = call;
  const now = new Date();
  const query = await queryOf(options, now);
  const { jobs, next } = await askFleet(
    call,
    (fleet) => fleet.jobs(query),
    (state) => state.jobs.list(query),
  );
  if (terminal.json) {
    terminal.printJson({ jobs, next });
    return 0;
  }
  if (jobs.length === 0) {
    const isFiltered = Object.keys(query).some((key) => key !== "limit");
    terminal.print(isFiltered ? "No job is like that." : "Nothing has run here yet.");
    return 0;
  }
  for (const line of jobTable(jobs, now, lookOf(terminal))) terminal.print(line);
  if (next !== null) terminal.note(terminal.colors.dim(`There are more: add --cursor ${next}`));
  return 0;
}

async function queryOf(options: Options, now: Date): Promise<JobQuery> {
  const given = {
    agent: textOption(options, "agent"),
    status: oneOf("status", textOption(options, "status"), jobStatuses),
    outcome: oneOf("outcome", textOption(options, "outcome"), outcomeCodes),
    since: await sinceOf(textOption(options, "since"), now),
    cursor: textOption(options, "cursor"),
  };
  const present = Object.entries(given).filter(([, value]) => value !== undefined);
  return {
    limit: limitOf(textOption(options, "limit") ?? "20", "jobs"),
    ...Object.fromEntries(present),
  };
}

const outcomeCodes = Object.keys(outcomes).filter((code): code is OutcomeCode => code in outcomes);
