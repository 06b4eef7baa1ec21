import { exitCodes } from "@herdctl/protocol";
import type { CommandContext } from "../command.ts";

export async function run(context: CommandContext): Promise<number> {
  if (context.options.detach === true) {
    const { startDetached } = await import("../start-detached.ts");
    await startDetached(context);
    return exitCodes.success;
  }
  // Exit explicitly, because a library may keep connections open.
  process.exit(await runForegroundFleet(context));
}

async function runForegroundFleet(context: CommandContext): Promise<number> {
  try {
    const { runFleet } = await import("../run-fleet.ts");
    await runFleet(context);
    return exitCodes.success;
  } catch (error) {
    const { reportFailure } = await import("../report-failure.ts");
    return reportFailure(error, context.terminal, context.cwd);
  }
}
