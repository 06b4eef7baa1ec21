import { stat } from "node:fs/promises";
import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import { Doing } from "../runner/doing.ts";
import { eventsOf } from "../runner/job-event.ts";
import type { Job } from "../state/job.ts";
import { readOutput } from "../state/output-reader.ts";
import type { FleetContext } from "./context.ts";

/** The last so many bytes of a log tell what somebody was at. */
const enough = 256 * 1024;

/**
 * Passes on what an agent says while it says it. The log on disk is the only source, so that a
 * fleet which finds a job already running hears the rest of it in the same way.
 */
export class Relay {
  private readonly now = new Doing();
  private readonly ended = new AbortController();
  private readonly reading: Promise<void>;

  constructor(
    private readonly context: FleetContext,
    private readonly job: Job,
    /** The attempt was begun by another fleet: what it said last is read back. */
    private readonly isUnderWay: boolean,
  ) {
    this.reading = this.read().catch((error) =>
      context.trouble(`the log of ${job.id} cannot be followed`, error),
    );
  }

  get doing(): string {
    return this.now.text;
  }

  /** After the last message has been passed on. */
  async end(): Promise<void> {
    this.ended.abort();
    await this.reading;
  }

  private async read(): Promise<void> {
    const { id: job_id, agent, output_file } = this.job;
    const size = await stat(output_file).then(
      (file) => file.size,
      () => 0,
    );
    const from = this.isUnderWay ? Math.max(0, size - enough) : size;
    const follow = this.ended.signal;
    for await (const { message, offset } of readOutput(output_file, { from, follow })) {
      // The edge: the log holds what claude said.
      const said = message as SDKMessage;
      for (const event of eventsOf(said)) this.now.see(event);
      if (offset > size)
        this.context.hub.emit({ type: "job:output", job_id, agent, message: said, offset });
    }
  }
}
