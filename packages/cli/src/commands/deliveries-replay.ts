import { exitCodes } from "@herdctl/protocol";
import type { CommandContext } from "../command.ts";
import { findDelivery } from "../find-delivery.ts";
import { withFleet } from "../find-fleet.ts";
import { sanitizeText } from "../render/sanitize-text.ts";

export async function run(context: CommandContext): Promise<number> {
  const { terminal } = context;
  const { green, yellow } = terminal.colors;
  const { id } = await findDelivery(context);
  const { job_id, reason, ...replay } = await withFleet(context, (fleet) =>
    fleet.deliveries.replay(id),
  );
  if (terminal.isJson) terminal.printJson({ job_id, reason, ...replay });
  else if (job_id !== null) terminal.print(`${green("✓")} ${job_id}`);
  else terminal.print(`${yellow("–")} ignored: ${sanitizeText(reason ?? "")}`);
  return job_id === null ? exitCodes.refused : exitCodes.success;
}
