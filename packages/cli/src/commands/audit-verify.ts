import { exitCodes } from "@herdctl/core/light";
import type { Call } from "../command.ts";
import { readState } from "../read-state.ts";
import { countText } from "../show/amounts.ts";

const tamperedExitCode = 1;

/** Read from the store itself, so that nothing is taken on the word of a running fleet. */
export async function run(call: Call): Promise<number> {
  const { terminal } = call;
  const { head, problems } = await readState(call, async (state) => {
    const { verifyAudit } = await import("@herdctl/core/state");
    return verifyAudit(state.audit);
  });
  if (terminal.json) terminal.printJson({ ok: problems.length === 0, head, problems });
  else {
    const { green, red, dim } = terminal.colors;
    for (const { message } of problems) terminal.print(`${red("✗")} ${message}`);
    if (problems.length === 0) {
      terminal.print(`${green("✓")} ${countText(head.count, "record")}, none edited or removed`);
      if (head.hash !== null) terminal.print(dim(`  head ${head.count} ${head.hash}`));
    }
  }
  return problems.length === 0 ? exitCodes.success : tamperedExitCode;
}
