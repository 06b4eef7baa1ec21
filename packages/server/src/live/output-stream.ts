import type { JobOutput } from "@herdctl/core";
import type { Connection } from "./connection.ts";
import { type Piece, sseFrame, withHeartbeat } from "./frames.ts";
import type { JobFeeds } from "./job-feeds.ts";
import { mediaTypes, streamResponse } from "./stream-response.ts";

export interface OutputRequest {
  jobId: string;
  from: number;
  follow: boolean;
  asEvents: boolean;
}

/** The messages of a job, as server-sent events or one JSON object a line. */
export function streamOutput(
  feeds: JobFeeds,
  { jobId, from, follow, asEvents }: OutputRequest,
  connection: Connection,
): Response {
  const { signal } = connection;
  const output = follow ? feeds.follow(jobId, from, signal) : feeds.read(jobId, from);
  const write = asEvents ? asFrame : asLine;
  const pieces = writtenOut(output, write, signal);
  return asEvents
    ? streamResponse(withHeartbeat(pieces), mediaTypes.sse, connection)
    : streamResponse(pieces, mediaTypes.lines, connection);
}

async function* writtenOut(
  output: AsyncIterable<JobOutput>,
  write: (output: JobOutput) => Piece,
  signal: AbortSignal,
): AsyncGenerator<Piece> {
  for await (const one of output) {
    if (signal.aborted) return;
    yield write(one);
  }
}

/** A hundred who follow one job are given the same object: it is written out once. */
function once(write: (output: JobOutput) => Uint8Array): (output: JobOutput) => Uint8Array {
  const written = new WeakMap<JobOutput, Uint8Array>();
  return (output) => {
    const bytes = written.get(output) ?? write(output);
    written.set(output, bytes);
    return bytes;
  };
}

const asFrame = once((output) =>
  sseFrame({ id: output.offset, event: "message", json: JSON.stringify(output) }),
);

const asLine = once((output) => Buffer.from(`${JSON.stringify(output)}\n`));
