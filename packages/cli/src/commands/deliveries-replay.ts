import { exitCodes } from "@herdctl/core/light";
import type { Call } from "../command.ts";
import { findDelivery } from "../find-delivery.ts";
import { withFleet } from "../fleet-access.ts";
import { harmless } from "../show/harmless.ts";

export async function run(call: Call): Promise<number> {
  const { terminal } = call;
  const { green, yellow } = terminal.colors;
  const { id } = await findDelivery(call);
  const { job_id, reason, ...replay } = await withFleet(call, (fleet) => fleet.replay(id));
  if (terminal.json) terminal.printJson({ job_id, reason, ...replay });
  else if (job_id !== null) terminal.print(`${green("✓")} ${job_id}`);
  else terminal.print(`${yellow("–")} not wanted: ${harmless(reason ?? "")}`);
  return job_id === null ? exitCodes.refused : exitCodes.success;
}
