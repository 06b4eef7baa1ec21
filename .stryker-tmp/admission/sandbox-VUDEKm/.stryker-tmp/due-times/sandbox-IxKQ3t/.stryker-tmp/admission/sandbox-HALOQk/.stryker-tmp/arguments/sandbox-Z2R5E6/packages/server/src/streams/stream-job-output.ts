import type { JobOutput } from "@herdctl/protocol";
import type { Connection } from "./connection.ts";
import type { JobOutputFeeds } from "./job-output-feeds.ts";
import { type Chunk, encodeSseEvent, withHeartbeat } from "./sse-events.ts";
import { mediaTypes, streamResponse } from "./stream-response.ts";

export interface OutputRequest {
  jobId: string;
  from: number;
  follow: boolean;
  isSse: boolean;
}

/** The messages of a job as server-sent events or JSON lines. */
export function streamJobOutput(
  feeds: JobOutputFeeds,
  { jobId, from, follow, isSse }: OutputRequest,
  connection: Connection,
): Response {
  const { signal } = connection;
  const output = follow ? feeds.follow(jobId, from, signal) : feeds.read(jobId, from);
  const encode = isSse ? encodeAsSse : encodeAsJsonLine;
  const chunks = encodeOutput(output, encode, signal);
  return isSse
    ? streamResponse(withHeartbeat(chunks), mediaTypes.sse, connection)
    : streamResponse(chunks, mediaTypes.lines, connection);
}

async function* encodeOutput(
  output: AsyncIterable<JobOutput>,
  encode: (output: JobOutput) => Chunk,
  signal: AbortSignal,
): AsyncGenerator<Chunk> {
  for await (const item of output) {
    if (signal.aborted) return;
    yield encode(item);
  }
}

/** All followers of a job receive the same message objects, so each is encoded only once. */
function memoizeByOutput(
  encode: (output: JobOutput) => Uint8Array,
): (output: JobOutput) => Uint8Array {
  const encodedOutputs = new WeakMap<JobOutput, Uint8Array>();
  return (output) => {
    const bytes = encodedOutputs.get(output) ?? encode(output);
    encodedOutputs.set(output, bytes);
    return bytes;
  };
}

const encodeAsSse = memoizeByOutput((output) =>
  encodeSseEvent({ id: output.offset, event: "message", json: JSON.stringify(output) }),
);

const encodeAsJsonLine = memoizeByOutput((output) => Buffer.from(`${JSON.stringify(output)}\n`));
