import { stat } from "node:fs/promises";
import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import { eventsOf, type JobEvent } from "../runner/job-event.ts";
import type { Job } from "../state/job.ts";
import { readOutput } from "../state/output-reader.ts";
import type { FleetContext } from "./context.ts";

/**
 * Passes on what an agent says while it says it. The log on disk is the only source, so that a
 * fleet which finds a job already running hears the rest of it in the same way.
 */
export class Relay {
  doing = "starting";
  private readonly ended = new AbortController();
  private readonly reading: Promise<void>;

  constructor(
    private readonly context: FleetContext,
    private readonly job: Job,
  ) {
    this.reading = this.read().catch((error) =>
      context.trouble(`the log of ${job.id} cannot be followed`, error),
    );
  }

  /** After the last message has been passed on. */
  async end(): Promise<void> {
    this.ended.abort();
    await this.reading;
  }

  private async read(): Promise<void> {
    const { id: job_id, agent, output_file } = this.job;
    const from = await stat(output_file).then(
      ({ size }) => size,
      () => 0,
    );
    for await (const { message, offset } of readOutput(output_file, {
      from,
      follow: this.ended.signal,
    })) {
      // The edge: the log holds what claude said.
      const said = message as SDKMessage;
      this.doing = eventsOf(said).reduce(nowDoing, this.doing);
      this.context.hub.emit({ type: "job:output", job_id, agent, message: said, offset });
    }
  }
}

function nowDoing(before: string, event: JobEvent): string {
  if (event.kind === "tool_call") return event.tool;
  if (event.kind === "text" || event.kind === "text_piece") return "speaking";
  if (event.kind === "tool_result" || event.kind === "thinking") return "thinking";
  if (event.kind === "retry") return "waiting for the API";
  return before;
}
