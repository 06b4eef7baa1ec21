import { type ShutdownOptions, stateDirOf } from "@herdctl/protocol";
import type { CommandContext } from "./command.ts";
import { type FleetClient, resolveFleetFile } from "./find-fleet.ts";
import { drainText } from "./render/fleet-footer.ts";
import { sanitizeDeep } from "./render/sanitize-text.ts";
import { createLiveScreen } from "./render/screen.ts";
import { truncate } from "./render/text-width.ts";

/** How long a stopping fleet waits for running jobs before it cancels them. */
export const drainTimeoutMs = 80_000;

const pollIntervalMs = 100;

/** Stops a fleet and shows the jobs it waits for, until its process has exited. */
export async function stopAndWait(
  context: CommandContext,
  fleet: FleetClient,
  options: ShutdownOptions,
): Promise<void> {
  const { readLockHolder } = await import("@herdctl/core/internal");
  const stateDir = stateDirOf(resolveFleetFile(context));
  const holder = readLockHolder(stateDir);
  const progress = showDrainProgress(
    context,
    fleet,
    Date.now() + (options.drainMs ?? drainTimeoutMs),
  );
  try {
    await fleet.shutdown(options);
    while (holder && readLockHolder(stateDir)?.pid === holder.pid) {
      await new Promise((resolve) => setTimeout(resolve, pollIntervalMs));
    }
  } finally {
    progress.close();
  }
}

function showDrainProgress(
  { terminal }: CommandContext,
  fleet: FleetClient,
  deadline: number,
): { close(): void } {
  if (!terminal.canRedraw) return { close: () => undefined };
  const screen = createLiveScreen(terminal.write);
  const refresh = async () => {
    const text = drainText(sanitizeDeep(await fleet.status()), deadline, new Date());
    if (timer)
      screen.show([], [terminal.colors.yellow(truncate(`■ ${text}`, terminal.columns ?? 80))]);
  };
  let timer: NodeJS.Timeout | undefined;
  timer = setInterval(() => void refresh().catch(() => undefined), pollIntervalMs);
  return {
    close: () => {
      clearInterval(timer);
      timer = undefined;
      screen.close();
    },
  };
}
