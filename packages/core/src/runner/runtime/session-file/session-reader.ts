import { join } from "node:path";
import { FileCursor, type PlacedLine, type ReadOptions } from "./cursor.ts";
import { listSubagents, readSubagent, type Subagent, subagentsFolder } from "./subagents.ts";

/** A line of the session itself, or of one of its subagents, which write files of their own. */
export interface SessionFileLine extends PlacedLine {
  subagent?: Subagent;
}

interface Source {
  cursor: FileCursor;
  subagent?: Subagent;
}

/** All that is new in the files of a session at each `read`, in the order of its making. */
export class SessionReader {
  private readonly main: Source;
  private readonly folder: string;
  private readonly subagents = new Map<string, Source>();

  constructor(
    file: string,
    private readonly options: ReadOptions,
  ) {
    this.main = { cursor: new FileCursor(file, options) };
    this.folder = subagentsFolder(file);
  }

  async *read(): AsyncGenerator<SessionFileLine> {
    const sources = [this.main, ...(await this.knownSubagents())];
    yield* inOrderOfTime(sources.map((source) => newLines(source)));
  }

  /** The last look: also at a subagent that never said which tool call it belongs to. */
  async *finish(): AsyncGenerator<SessionFileLine> {
    yield* this.read();
    const sources = [this.main, ...this.subagents.values()];
    yield* inOrderOfTime(sources.map((source) => lastLines(source)));
  }

  private async knownSubagents(): Promise<Source[]> {
    for (const agentId of await listSubagents(this.folder)) {
      const source = this.subagents.get(agentId) ?? this.begin(agentId);
      if (source.subagent?.toolUseId === undefined) {
        source.subagent = await readSubagent(this.folder, agentId);
      }
    }
    return [...this.subagents.values()].filter((one) => one.subagent?.toolUseId !== undefined);
  }

  private begin(agentId: string): Source {
    const { onSkipped, longestLine } = this.options;
    const file = join(this.folder, `agent-${agentId}.jsonl`);
    const source: Source = { cursor: new FileCursor(file, { onSkipped, longestLine }) };
    this.subagents.set(agentId, source);
    return source;
  }
}

async function* newLines({ cursor, subagent }: Source): AsyncGenerator<SessionFileLine> {
  for await (const placed of cursor.read()) yield { ...placed, subagent };
}

async function* lastLines({ cursor, subagent }: Source): AsyncGenerator<SessionFileLine> {
  for await (const placed of cursor.read()) yield { ...placed, subagent };
  for (const placed of cursor.finish()) yield { ...placed, subagent };
}

interface Head {
  line: SessionFileLine;
  at: string;
  source: AsyncGenerator<SessionFileLine>;
}

/** Each source keeps its own order; a line without a time goes with the one before it. */
async function* inOrderOfTime(
  sources: AsyncGenerator<SessionFileLine>[],
): AsyncGenerator<SessionFileLine> {
  const heads: Head[] = [];
  const advance = async (source: Head["source"], before: string) => {
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

function takeEarliest(heads: Head[]): Head | undefined {
  return heads.sort((a, b) => Number(a.at > b.at) - Number(a.at < b.at)).shift();
}
