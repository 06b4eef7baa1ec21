import { UserError } from "@herdctl/protocol";
import { type CommandContext, textOption } from "../command.ts";
import { withFleet } from "../find-fleet.ts";
import { findJob } from "../find-job.ts";
import { readState } from "../read-state.ts";
import { rewindPointLines } from "../render/rewind-point-table.ts";
import { sanitizeText } from "../render/sanitize-text.ts";
import { terminalStyleOf } from "../render/terminal-style.ts";

export async function run(context: CommandContext): Promise<number> {
  const { options, terminal } = context;
  const [idPrefix] = context.arguments;
  if (idPrefix === undefined) {
    throw new UserError("usage", "the ID of the job is missing", {
      hint: "Run `herdctl jobs` to list jobs and their IDs.",
    });
  }
  const { id } = await readState(context, (state) => findJob(state, idPrefix));
  if (options.list === true) {
    const points = await withFleet(context, (fleet) => fleet.jobs.rewindPoints(id));
    if (terminal.isJson) terminal.printJson({ points });
    else if (points.length === 0) terminal.print("The session contains no messages of the user.");
    else
      for (const line of rewindPointLines(points, new Date(), terminalStyleOf(terminal)))
        terminal.print(line);
    return 0;
  }
  const to = textOption(options, "to");
  const result = await withFleet(context, (fleet) => fleet.jobs.rewind(id, { to }));
  if (terminal.isJson) {
    terminal.printJson(result);
    return 0;
  }
  const { working_directory: folder, point } = result;
  terminal.print(`Restored the files in ${sanitizeText(folder)} to before this message:`);
  terminal.print(`  ${sanitizeText(point.prompt)}`);
  terminal.print("Changes by commands (Bash) stay.");
  return 0;
}
