import { UserError } from "@herdctl/core/light";
import { askFleet } from "../ask-fleet.ts";
import { type Call, textOption } from "../command.ts";
import { findJob } from "../find-job.ts";
import { readState } from "../read-state.ts";
import { hookLine } from "../show/hook-line.ts";
import { lookOf } from "../show/look.ts";

export async function run(call: Call): Promise<number> {
  const { terminal, options } = call;
  const typed = textOption(options, "job");
  const query = {
    jobId: typed && (await readState(call, (state) => findJob(state, typed))).id,
    status: options.failed === true ? ("failed" as const) : undefined,
    limit: limitOf(textOption(options, "limit")),
  };
  const hooks = await askFleet(
    call,
    (fleet) => fleet.hooks(query),
    (state) => state.hooks.list(query),
  );
  if (terminal.json) terminal.printJson({ hooks });
  else if (hooks.length === 0) terminal.print("No hook has run.");
  const look = lookOf(terminal);
  for (const one of terminal.json ? [] : hooks) {
    terminal.print(`${look.colors.bold(one.job_id)}  ${hookLine(one, look)}`);
  }
  return 0;
}

function limitOf(text = "20"): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit > 0 && limit <= 1000) return limit;
  throw new UserError("usage", `"${text}" is not a number of hooks`, {
    hint: "Write a whole number from 1 to 1000.",
  });
}
