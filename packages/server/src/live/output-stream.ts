import type { FleetControl, JobOutput } from "@herdctl/core";
import type { Connection } from "./connection.ts";
import { sseFrame, withHeartbeat } from "./frames.ts";
import { mediaTypes, streamResponse } from "./stream-response.ts";

export interface OutputRequest {
  jobId: string;
  from: number;
  follow: boolean;
  asEvents: boolean;
}

/** The messages of a job, as server-sent events or one JSON object a line. */
export function streamOutput(
  control: FleetControl,
  { jobId, from, follow, asEvents }: OutputRequest,
  connection: Connection,
): Response {
  const output = control.output(jobId, follow ? { from, follow: connection.signal } : { from });
  const write = asEvents ? asFrame : asLine;
  const pieces = written(output, write, connection.signal);
  return asEvents
    ? streamResponse(withHeartbeat(pieces), mediaTypes.sse, connection)
    : streamResponse(pieces, mediaTypes.lines, connection);
}

async function* written(
  output: AsyncIterable<JobOutput>,
  write: (output: JobOutput) => string,
  signal: AbortSignal,
): AsyncGenerator<string> {
  for await (const one of output) {
    if (signal.aborted) return;
    yield write(one);
  }
}

function asFrame(output: JobOutput): string {
  return sseFrame({ id: output.offset, event: "message", data: output });
}

function asLine(output: JobOutput): string {
  return `${JSON.stringify(output)}\n`;
}
