import { UserError } from "@herdctl/protocol";
import type { CommandContext } from "../command.ts";
import { withFleet } from "../find-fleet.ts";
import { findJob } from "../find-job.ts";
import { readState } from "../read-state.ts";
import { submitToFleet } from "../trigger-running-fleet.ts";

export async function run(context: CommandContext): Promise<number> {
  const { options } = context;
  const [idPrefix] = context.arguments;
  if (idPrefix === undefined) {
    throw new UserError("usage", "the ID of the job is missing", {
      hint: "Run `herdctl jobs` to list jobs and their IDs.",
    });
  }
  const { id } = await readState(context, (state) => findJob(state, idPrefix));
  return withFleet(context, (fleet) =>
    submitToFleet(context, fleet, async (client) =>
      options.tryNow === true
        ? client.jobs.tryNow(id)
        : (await client.jobs.retry(id, { fresh: options.fresh === true })).job,
    ),
  );
}
