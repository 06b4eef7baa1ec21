import { stat } from "node:fs/promises";
import type { ClaudeMessage } from "@herdctl/protocol";
import { ActivityTracker, type Job, toJobEvents } from "@herdctl/protocol";
import { readOutput } from "../../store/files/output-reader.ts";
import type { JobServices } from "../services.ts";

/** How much of the log is read to find the current activity. */
const tailBytes = 256 * 1024;

/**
 * Forwards the output of an agent while it is written. The log on disk is the only source, so a
 * fleet process that adopts a running job forwards the rest in the same way.
 */
export class OutputTailer {
  private readonly tracker = new ActivityTracker();
  private readonly ended = new AbortController();
  private readonly reading: Promise<void>;

  constructor(
    private readonly services: JobServices,
    private readonly job: Job,
    /** Another fleet process started the attempt, so its last output is read for the activity. */
    private readonly isReattached: boolean,
  ) {
    this.reading = this.read().catch((error) =>
      services.reportError(`Failed to follow the log of ${job.id}`, error),
    );
  }

  get activity(): string {
    return this.tracker.text;
  }

  /** Resolves after the last message has been forwarded. */
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
    const startOffset = this.isReattached ? Math.max(0, size - tailBytes) : size;
    const follow = this.ended.signal;
    for await (const { message, offset } of readOutput(output_file, {
      from: startOffset,
      follow,
    })) {
      // The log contains messages of claude.
      const claudeMessage = message as ClaudeMessage;
      for (const event of toJobEvents(claudeMessage)) this.tracker.addEvent(event);
      if (offset > size)
        this.services.hub.emit({
          type: "job:output",
          job_id,
          agent,
          message: claudeMessage,
          offset,
        });
    }
  }
}
