import { setTimeout as delay, setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { FleetEvent } from "@herdctl/protocol";
import type { JobServices } from "../jobs/services.ts";
import { type JobTexts, maxSearchedChars } from "../store/model/search-text.ts";
import { streamJobOutput } from "./views/job-output.ts";

const batchSize = 50;
/** Jobs that end together share a transaction. */
const batchDelayMs = 500;
/** One tool result, such as a file, must not leave no room for the others. */
const maxPartChars = 4_000;

type IndexedEvent = "job:completed" | "job:failed" | "job:cancelled";
const indexedEvents: IndexedEvent[] = ["job:completed", "job:failed", "job:cancelled"];

/** Adds finished jobs to the search index, after they have ended and without delaying them. */
export class SearchIndex {
  readonly #waiting = new Set<string>();
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;
  readonly #unsubscribe: (() => void)[];

  constructor(private readonly services: SearchIndexServices) {
    const add = ({ job }: Extract<FleetEvent, { type: IndexedEvent }>) => this.#add([job.id]);
    this.#unsubscribe = indexedEvents.map((type) => services.hub.on(type, add));
    this.catchUp();
  }

  /** Adds what ended while no fleet process was running, or while another node was the leader. */
  catchUp(): void {
    if (!this.services.isLeader()) return;
    void this.services.state.search
      .listMissing()
      .then((ids) => this.#add(ids))
      .catch((error) => this.#report(error));
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    await this.#running;
  }

  #add(ids: readonly string[]): void {
    if (!this.services.isLeader()) return;
    for (const id of ids) this.#waiting.add(id);
    if (this.#stopping.signal.aborted || this.#waiting.size === 0) return;
    this.#running ??= this.#run()
      .catch((error) => this.#report(error))
      .finally(() => {
        this.#running = undefined;
      });
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    await delay(batchDelayMs, undefined, { signal }).catch(() => undefined);
    while (this.#waiting.size > 0 && !signal.aborted) {
      const ids = [...this.#waiting].slice(0, batchSize);
      for (const id of ids) this.#waiting.delete(id);
      const texts = new Map<string, JobTexts>();
      for (const id of ids) {
        const found = await this.#readTexts(id);
        if (found) texts.set(id, found);
        await yieldToEventLoop();
      }
      if (texts.size > 0) await this.services.state.search.add(texts);
    }
  }

  async #readTexts(id: string): Promise<JobTexts | undefined> {
    const job = await this.services.state.jobs.get(id);
    if (!job || job.finished_at === null) return undefined;
    const summary = [job.summary, job.outcome?.message].filter(Boolean).join("\n");
    // A log that was removed or damaged leaves the job findable by its prompt and summary.
    const output = await readOutputText(this.services, id).catch(() => "");
    return { prompt: job.prompt, summary, output };
  }

  #report(error: unknown): void {
    if (!this.#stopping.signal.aborted)
      this.services.reportError("Failed to add jobs to the search index", error);
  }
}

type SearchIndexServices = Pick<JobServices, "state" | "hub" | "isLeader" | "reportError"> &
  Parameters<typeof streamJobOutput>[0];

/** What the agent wrote, and what its tools received and returned, up to a maximum. */
async function readOutputText(services: SearchIndexServices, id: string): Promise<string> {
  const parts: string[] = [];
  let length = 0;
  for await (const { message } of streamJobOutput(services, id)) {
    for (const part of textsOf(message)) {
      parts.push(part.slice(0, maxPartChars));
      length += Math.min(part.length, maxPartChars) + 1;
    }
    if (length >= maxSearchedChars) break;
  }
  return parts.join("\n");
}

function textsOf(message: Record<string, unknown>): string[] {
  if (message.type !== "assistant" && message.type !== "user") return [];
  const inner = message.message;
  return isRecord(inner) ? contentTexts(inner.content) : [];
}

function contentTexts(content: unknown): string[] {
  if (typeof content === "string") return [content];
  if (!Array.isArray(content)) return [];
  return content.filter(isRecord).flatMap((block) => {
    if (typeof block.text === "string") return [block.text];
    if (block.type === "tool_use") return [`${block.name} ${JSON.stringify(block.input)}`];
    return block.type === "tool_result" ? contentTexts(block.content) : [];
  });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
