import { exitCodes } from "@herdctl/protocol";
import type { CommandContext } from "../command.ts";
import { readState } from "../read-state.ts";
import { formatCount } from "../render/format-amounts.ts";

const tamperedExitCode = 1;

/** Reads the store directly: the check must not depend on what a running fleet reports. */
export async function run(context: CommandContext): Promise<number> {
  const { terminal } = context;
  const { store, head, problems } = await readState(context, async (state) => {
    const { verifyAudit } = await import("@herdctl/core/internal");
    return { store: state.location, ...(await verifyAudit(state.audit)) };
  });
  const isIntact = problems.length === 0;
  const hint = isIntact ? null : remediationHint(problems);
  if (terminal.isJson) terminal.printJson({ ok: isIntact, store, head, problems, hint });
  else {
    const { green, red, dim } = terminal.colors;
    for (const { message } of problems) terminal.print(`${red("✗")} ${message}`);
    if (isIntact) {
      terminal.print(`${green("✓")} ${formatCount(head.count, "record")}, none edited or removed`);
      if (head.hash !== null) terminal.print(dim(`  head ${head.count} ${head.hash}`));
    } else terminal.print(`  in ${store}\n  ${dim(hint ?? "")}`);
  }
  return isIntact ? exitCodes.success : tamperedExitCode;
}

function remediationHint(problems: { number: number }[]): string {
  const lastIntactNumber = Math.min(...problems.map(({ number }) => number)) - 1;
  const intactText =
    lastIntactNumber === 0 ? "" : `The log is intact up to record ${lastIntactNumber}. `;
  return `${intactText}Copy the database as evidence before anything else writes to it, compare it with a backup or an earlier \`herdctl audit --json\`, and find out who had write access.`;
}
