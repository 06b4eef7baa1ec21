import { join } from "node:path";
import { FileCursor, type LineWithOffsets, type ReadOptions } from "./file-cursor.ts";
import { listSubagents, readSubagent, type Subagent, subagentsFolder } from "./subagents.ts";

/** A line of the session or of one of its subagents, which write separate files. */
export interface SessionFileLine extends LineWithOffsets {
  subagent?: Subagent;
}

interface LineSource {
  cursor: FileCursor;
  subagent?: Subagent;
}

/** Reads the new lines of all files of a session, ordered by time. */
export class SessionReader {
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
