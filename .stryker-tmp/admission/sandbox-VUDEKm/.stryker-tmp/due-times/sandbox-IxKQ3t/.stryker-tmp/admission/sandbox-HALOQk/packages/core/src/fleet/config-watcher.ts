import { basename } from "node:path";
import {
  isWatched,
  type LoadedFleet,
  listProblemFiles,
  listWatchedFolders,
  type WatchedFolder,
} from "@herdctl/config";
import { Mutex } from "@herdctl/protocol";
import { type FSWatcher, watch } from "chokidar";

/** Editors write in several steps, and people often change several files. */
const debounceMs = 300;

export interface ConfigWatcherDeps {
  /** A time before the configuration was loaded. Files that changed after it cause a reload. */
  loadedAt: Date;
  loaded(): LoadedFleet;
  /** Reports an invalid configuration itself; the watcher then waits for the next change. */
  reload(): Promise<void>;
}

/** Reloads the configuration when its files change. */
export class ConfigWatcher {
  private watcher: FSWatcher | undefined;
  private watchedFingerprint = "";
  private timer: NodeJS.Timeout | undefined;
  private readonly reloading = new Mutex();
  private loadedAt: Date;
  /** Files of the last invalid configuration, which the current one may not name. */
  private rejectedFiles: string[] = [];
  private stopped = false;

  constructor(private readonly deps: ConfigWatcherDeps) {
    this.loadedAt = deps.loadedAt;
  }

  /** Watches the folders of the loaded configuration. Call it again when they may have changed. */
  update(): void {
    const { fleet, files, patterns } = this.deps.loaded();
    const isDisabled = this.stopped || !fleet.fleet.watch;
    const folders = isDisabled
      ? []
      : listWatchedFolders({ files: [...files, ...this.rejectedFiles], patterns });
    const fingerprint = JSON.stringify(folders.map(({ path, depth }) => [path, String(depth)]));
    if (fingerprint === this.watchedFingerprint) return;
    this.watchedFingerprint = fingerprint;
    void this.watcher?.close();
    this.watcher = folders.length > 0 ? this.watchFolders(folders) : undefined;
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.watcher?.close();
    await this.reloading.whenIdle();
  }

  private watchFolders(folders: readonly WatchedFolder[]): FSWatcher {
    const paths = folders.map(({ path }) => path);
    const watcher = watch(paths, {
      alwaysStat: true,
      ignored: (path, stats) => {
        if (!stats) return false;
        return stats.isDirectory() ? !isWatched(folders, path) : !this.isConfigFile(path);
      },
    });
    let isReady = false;
    watcher.on("ready", () => {
      isReady = true;
    });
    watcher.on("all", (_, path, stats) => {
      // Initial events are no changes, unless a file was written while the watcher started.
      const isChange = isReady || (stats?.mtimeMs ?? 0) > this.loadedAt.getTime();
      if (isChange && this.isConfigFile(path)) this.scheduleReload();
    });
    // For a folder that cannot be watched, users can run `herdctl reload`.
    watcher.on("error", () => undefined);
    return watcher;
  }

  private scheduleReload(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(
      () => void this.reloading.runExclusive(() => this.reload()),
      debounceMs,
    );
  }

  private async reload(): Promise<void> {
    if (this.stopped) return;
    this.loadedAt = new Date();
    this.rejectedFiles = [];
    await this.deps.reload().catch((error: unknown) => {
      this.rejectedFiles = listProblemFiles(error);
    });
    this.update();
  }

  /** Whether a file was read, or could be read by the next reload. */
  private isConfigFile(path: string): boolean {
    const couldBeConfig = /\.ya?ml$/.test(path) || basename(path) === ".env";
    return couldBeConfig || this.deps.loaded().files.includes(path);
  }
}
