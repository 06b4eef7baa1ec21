import { access } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { waitForAbort } from "../../lib/timeout.ts";
import { FileCursor, type LineWithOffsets, type ReadOptions } from "./file-cursor.ts";
import { listSubagents, readSubagent, type Subagent, subagentsFolder } from "./subagent-files.ts";

interface FollowOptions extends ReadOptions {
  file: string;
  /** Stops immediately. */
  signal: AbortSignal;
  /** Settles when nothing more will be written; one last read follows. */
  until?: Promise<unknown>;
}

/** Detects changes if the file watchers fail. */
const fallbackPollMs = 500;

/** Yields the lines of a session while they are written: each whole line once, in file order. */
export async function* followSessionFile(options: FollowOptions): AsyncGenerator<SessionFileLine> {
  const { file, signal, until } = options;
  const reader = new SessionReader(file, options);
  const wake = new WakeSignal(fallbackPollMs);
  const stopWatching = watchPaths([file, subagentsFolder(file)], () => wake.wakeSoon());
  const onAbort = () => wake.wakeNow();
  signal.addEventListener("abort", onAbort);
  let ended = false;
  const end = () => {
    ended = true;
    wake.wakeNow();
  };
  until?.then(end, end);
  try {
    while (!signal.aborted) {
      // A read that starts after the end sees everything that was written before it.
      if (ended) return yield* reader.finish();
      yield* reader.read();
      await wake.next();
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
    wake.stop();
    await stopWatching();
  }
}

function watchPaths(paths: string[], onChange: () => void): () => Promise<void> {
  const closing = new AbortController();
  const watching = paths.map((path) => watchPath(path, onChange, closing.signal));
  return async () => {
    closing.abort();
    await Promise.allSettled(watching);
  };
}

export async function* readSessionFile(
  file: string,
  options: ReadOptions = {},
): AsyncGenerator<SessionFileLine> {
  yield* new SessionReader(file, options).finish();
}

const settleDelayMs = 60;

/**
 * Waits until there may be new lines. `wakeSoon` wakes immediately and again after a delay, because
 * chokidar throttles changes and sends no trailing event; repeated calls are debounced.
 */
class WakeSignal {
  private pending = false;
  private resolve: (() => void) | undefined;
  private settleTimer: NodeJS.Timeout | undefined;
  private readonly pollTimer: NodeJS.Timeout;

  constructor(pollIntervalMs: number) {
    this.pollTimer = setInterval(() => this.wakeNow(), pollIntervalMs);
  }

  wakeNow(): void {
    this.pending = true;
    this.resolve?.();
  }

  wakeSoon(): void {
    this.wakeNow();
    clearTimeout(this.settleTimer);
    this.settleTimer = setTimeout(() => this.wakeNow(), settleDelayMs);
  }

  async next(): Promise<void> {
    if (!this.pending) {
      await new Promise<void>((resolve) => {
        this.resolve = resolve;
      });
    }
    this.pending = false;
    this.resolve = undefined;
  }

  stop(): void {
    clearTimeout(this.settleTimer);
    clearInterval(this.pollTimer);
  }
}

const folderPollMs = 100;

/**
 * Watches a file or folder that may not exist yet, until the signal aborts. chokidar detects a path
 * that is created later, but not if its parent folder is missing at the start.
 */
async function watchPath(path: string, onChange: () => void, signal: AbortSignal): Promise<void> {
  // Imported on demand, because most runners do not follow a session file.
  const { watch } = await import("chokidar");
  const folder = dirname(path);
  while (!(await exists(folder))) {
    await sleep(folderPollMs, undefined, { signal });
  }
  const watcher = watch(path, { atomic: false });
  watcher.on("all", onChange);
  // If the watcher fails, polling still detects all changes.
  watcher.on("error", () => undefined);
  await waitForAbort(signal);
  await watcher.close();
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** A line of the session or of one of its subagents, which write separate files. */
interface SessionFileLine extends LineWithOffsets {
  subagent?: Subagent;
}

interface LineSource {
  cursor: FileCursor;
  subagent?: Subagent;
}

/** Reads the new lines of all files of a session, ordered by time. */
class SessionReader {
  private readonly main: LineSource;
  private readonly folder: string;
  private readonly subagents = new Map<string, LineSource>();

  constructor(
    file: string,
    private readonly options: ReadOptions,
  ) {
    this.main = { cursor: new FileCursor(file, options) };
    this.folder = subagentsFolder(file);
  }

  async *read(): AsyncGenerator<SessionFileLine> {
    const sources = [this.main, ...(await this.refreshSubagents())];
    yield* mergeByTime(sources.map((source) => newLines(source)));
  }

  /** The last read; includes subagents whose tool call is unknown. */
  async *finish(): AsyncGenerator<SessionFileLine> {
    yield* this.read();
    const sources = [this.main, ...this.subagents.values()];
    yield* mergeByTime(sources.map((source) => lastLines(source)));
  }

  private async refreshSubagents(): Promise<LineSource[]> {
    for (const agentId of await listSubagents(this.folder)) {
      const source = this.subagents.get(agentId) ?? this.addSubagent(agentId);
      if (source.subagent?.toolUseId === undefined) {
        source.subagent = await readSubagent(this.folder, agentId);
      }
    }
    return [...this.subagents.values()].filter(({ subagent }) => subagent?.toolUseId !== undefined);
  }

  private addSubagent(agentId: string): LineSource {
    const { onSkipped, maxLineBytes } = this.options;
    const file = join(this.folder, `agent-${agentId}.jsonl`);
    const source: LineSource = {
      cursor: new FileCursor(file, { onSkipped, maxLineBytes }),
    };
    this.subagents.set(agentId, source);
    return source;
  }
}

async function* newLines({ cursor, subagent }: LineSource): AsyncGenerator<SessionFileLine> {
  for await (const line of cursor.read()) yield { ...line, subagent };
}

async function* lastLines({ cursor, subagent }: LineSource): AsyncGenerator<SessionFileLine> {
  for await (const line of cursor.read()) yield { ...line, subagent };
  for (const line of cursor.finish()) yield { ...line, subagent };
}

interface MergeHead {
  line: SessionFileLine;
  at: string;
  source: AsyncGenerator<SessionFileLine>;
}

/** Merges sources by time and keeps the order within each; a line without a time follows the previous one. */
async function* mergeByTime(
  sources: AsyncGenerator<SessionFileLine>[],
): AsyncGenerator<SessionFileLine> {
  const heads: MergeHead[] = [];
  const advance = async (source: MergeHead["source"], before: string) => {
    const { value, done } = await source.next();
    if (!done) heads.push({ line: value, at: value.line.timestamp ?? before, source });
  };
  try {
    for (const source of sources) await advance(source, "");
    for (let next = takeEarliest(heads); next !== undefined; next = takeEarliest(heads)) {
      yield next.line;
      await advance(next.source, next.at);
    }
  } finally {
    for (const source of sources) await source.return(undefined);
  }
}

function takeEarliest(heads: MergeHead[]): MergeHead | undefined {
  return heads.sort((a, b) => Number(a.at > b.at) - Number(a.at < b.at)).shift();
}
