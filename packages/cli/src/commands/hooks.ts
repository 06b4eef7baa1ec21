import type { HookQuery } from "@herdctl/protocol";
import { type CommandContext, textOption } from "../command.ts";
import { findJob } from "../find-job.ts";
import { parseLimit } from "../parse-query-options.ts";
import { queryFleetOrState } from "../query-fleet-or-state.ts";
import { readState } from "../read-state.ts";
import { hookLine } from "../render/hook-line.ts";
import { terminalStyleOf } from "../render/terminal-style.ts";

export async function run(context: CommandContext): Promise<number> {
  const { terminal, options } = context;
  const idPrefix = textOption(options, "job");
  const query: HookQuery = {
    job: idPrefix && (await readState(context, (state) => findJob(state, idPrefix))).id,
    status: options.failed === true ? "failed" : undefined,
    limit: parseLimit(textOption(options, "limit") ?? "20", "hooks"),
  };
  const hooks = await queryFleetOrState(
    context,
    (fleet) => fleet.hooks.list(query),
    (state) => state.hooks.list(query),
  );
  if (terminal.isJson) terminal.printJson({ hooks });
  else if (hooks.length === 0) terminal.print("No hooks have run yet.");
  const style = terminalStyleOf(terminal);
  for (const hook of terminal.isJson ? [] : hooks) {
    terminal.print(`${style.colors.bold(hook.job_id)}  ${hookLine(hook, style)}`);
  }
  return 0;
}
