import { statfs } from "node:fs/promises";
import { UserError } from "@herdctl/protocol";

interface DiskWatchOptions {
  folders: readonly string[];
  /** 0 means no limit. */
  minFreeBytes: number;
  onLowSpace(): void;
}

const pollIntervalMs = 1_000;

/**
 * Stops a run before it fills the disk of its workspace or of the state directory, because bind mounts
 * have no quota. A run can still fill the disk between two polls.
 */
export class DiskWatch {
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: DiskWatchOptions) {}

  async start(): Promise<void> {
    const { folders, minFreeBytes } = this.options;
    if (minFreeBytes === 0) return;
    const folder = await findLowSpaceFolder(folders, minFreeBytes);
    if (folder !== undefined) throw lowSpaceError(folder, minFreeBytes);
    this.poll();
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private poll(): void {
    const { folders, minFreeBytes, onLowSpace } = this.options;
    const timer = setTimeout(async () => {
      const folder = await findLowSpaceFolder(folders, minFreeBytes);
      if (this.timer !== timer) return;
      if (folder === undefined) this.poll();
      else onLowSpace();
    }, pollIntervalMs);
    this.timer = timer.unref();
  }
}

/** The first folder whose file system has less free space for an ordinary user. */
async function findLowSpaceFolder(
  folders: readonly string[],
  minFreeBytes: number,
): Promise<string | undefined> {
  for (const folder of folders) {
    const stats = await statfs(folder).catch(() => undefined);
    if (stats && stats.bavail * stats.bsize < minFreeBytes) return folder;
  }
  return undefined;
}

function lowSpaceError(folder: string, minFreeBytes: number): UserError {
  const megabytes = Math.floor(minFreeBytes / 1024 ** 2);
  return new UserError(
    "disk_full",
    `Less than ${megabytes} MB are free on the disk of ${folder}.`,
    {
      hint: "Free some space, or lower `docker.min_free_disk`.",
    },
  );
}
