import type { JobQuery, OutcomeCode } from "@herdctl/core";
import { jobStatuses, outcomes, UserError } from "@herdctl/core/light";
import { askFleet } from "../ask-fleet.ts";
import { type Call, type Options, textOption } from "../command.ts";
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
  return { limit: limitOf(textOption(options, "limit")), ...Object.fromEntries(present) };
}

const outcomeCodes = Object.keys(outcomes).filter((code): code is OutcomeCode => code in outcomes);

function oneOf<T extends string>(
  name: string,
  text: string | undefined,
  known: readonly T[],
): T | undefined {
  const found = known.find((one) => one === text);
  if (text === undefined || found !== undefined) return found;
  throw new UserError("usage", `"${text}" is no ${name}`, { hint: `One of: ${known.join(", ")}.` });
}

/** `2h` back from now, or a point in time. */
async function sinceOf(text: string | undefined, now: Date): Promise<Date | undefined> {
  if (text === undefined) return undefined;
  const { parseDuration } = await import("@herdctl/core");
  const duration = parseDuration(text);
  const time = typeof duration === "number" ? now.getTime() - duration : Date.parse(text);
  if (Number.isFinite(time)) return new Date(time);
  throw new UserError("usage", `"${text}" is neither a duration nor a point in time`, {
    hint: "Write `2h`, `7d` or `2026-03-01T09:00`.",
  });
}

function limitOf(text = "20"): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= 1000) return limit;
  throw new UserError("usage", `"${text}" is not a number of jobs`, { hint: "Give 1 to 1000." });
}
