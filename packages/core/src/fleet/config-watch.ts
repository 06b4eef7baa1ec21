import { basename } from "node:path";
import { type FSWatcher, watch } from "chokidar";
import type { LoadedFleet } from "../config/load.ts";
import {
  filesBlamed,
  isWatched,
  type WatchedFolder,
  watchedFolders,
} from "../config/watched-folders.ts";

/** Editors write in several steps, and whoever changes one file often changes another. */
const quietFor = 300;

export interface ConfigWatchFrame {
  /** When what is loaded was not yet read: files that changed later are news. */
  since: Date;
  loaded(): LoadedFleet;
  /** A wrong configuration is said by whoever reloads; here it is only waited for the next change. */
  reload(): Promise<void>;
}

/** Has the fleet read its configuration again when its files change. */
export class ConfigWatch {
  private watcher: FSWatcher | undefined;
  private watched = "";
  private timer: NodeJS.Timeout | undefined;
  private reloading: Promise<void> = Promise.resolve();
  private since: Date;
  /** What was read and found wrong, which what is in force may not name. */
  private wrong: string[] = [];
  private stopped = false;

  constructor(private readonly frame: ConfigWatchFrame) {
    this.since = frame.since;
  }

  /** Watches the folders of what is loaded now; called again when that may have changed. */
  follow(): void {
    const { fleet, files, patterns } = this.frame.loaded();
    const isOff = this.stopped || !fleet.fleet.watch;
    const folders = isOff ? [] : watchedFolders({ files: [...files, ...this.wrong], patterns });
    const print = JSON.stringify(folders.map(({ path, below }) => [path, String(below)]));
    if (print === this.watched) return;
    this.watched = print;
    void this.watcher?.close();
    this.watcher = folders.length > 0 ? this.open(folders) : undefined;
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.watcher?.close();
    await this.reloading;
  }

  private open(folders: readonly WatchedFolder[]): FSWatcher {
    const paths = folders.map(({ path }) => path);
    const watcher = watch(paths, {
      alwaysStat: true,
      ignored: (path, stats) => {
        if (!stats) return false;
        return stats.isDirectory() ? !isWatched(folders, path) : !this.isConfiguration(path);
      },
    });
    let isReady = false;
    watcher.on("ready", () => {
      isReady = true;
    });
    watcher.on("all", (_, path, stats) => {
      // What is found at first is no change, unless it was written while the watcher got ready.
      const isNews = isReady || (stats?.mtimeMs ?? 0) > this.since.getTime();
      if (isNews && this.isConfiguration(path)) this.changed();
    });
    // A folder that cannot be watched still has `herdctl reload`.
    watcher.on("error", () => undefined);
    return watcher;
  }

  private changed(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.reloading = this.reloading.then(() => this.reload());
    }, quietFor);
  }

  private async reload(): Promise<void> {
    if (this.stopped) return;
    this.since = new Date();
    this.wrong = [];
    await this.frame.reload().catch((error: unknown) => {
      this.wrong = filesBlamed(error);
    });
    this.follow();
  }

  /** What was read, by whatever name, and what could be read next time. */
  private isConfiguration(path: string): boolean {
    const couldBe = /\.ya?ml$/.test(path) || basename(path) === ".env";
    return couldBe || this.frame.loaded().files.includes(path);
  }
}
