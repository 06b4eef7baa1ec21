import type { JobOutput } from "@herdctl/core";
import type { Connection } from "./connection.ts";
import { sseFrame, withHeartbeat } from "./frames.ts";
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
  write: (output: JobOutput) => string,
  signal: AbortSignal,
): AsyncGenerator<string> {
  for await (const one of output) {
    if (signal.aborted) return;
    yield write(one);
  }
}

function asFrame(output: JobOutput): string {
  return sseFrame({ id: output.offset, event: "message", json: jsonOf(output) });
}

function asLine(output: JobOutput): string {
  return `${jsonOf(output)}\n`;
}

const written = new WeakMap<JobOutput, string>();

/** A hundred who follow one job are given the same object: it is written out once. */
function jsonOf(output: JobOutput): string {
  const known = written.get(output);
  if (known !== undefined) return known;
  const json = JSON.stringify(output);
  written.set(output, json);
  return json;
}
