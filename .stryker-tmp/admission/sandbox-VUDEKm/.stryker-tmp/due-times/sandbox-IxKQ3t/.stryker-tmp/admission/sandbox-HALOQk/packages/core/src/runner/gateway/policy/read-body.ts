import type { IncomingMessage } from "node:http";

/** The API accepts up to 32 MB. */
const maxBodyBytes = 64 * 1024 * 1024;
const maxTotalBytes = 2 * maxBodyBytes;
/** A refused body is read up to this size, because a response before its end could get lost. */
const maxDrainBytes = 4 * maxBodyBytes;

export type BodyReadResult =
  | { kind: "read"; bytes: Buffer }
  | { kind: "refused"; status: 413 | 529; reason: string }
  | { kind: "gone" };

/** Buffers whole bodies for checking. All requests of a gateway share one memory limit. */
export class BodyReader {
  private totalBufferedBytes = 0;

  async read(request: IncomingMessage): Promise<BodyReadResult> {
    const chunks: Buffer[] = [];
    let [receivedBytes, bufferedBytes] = [0, 0];
    let refusal: BodyReadResult | undefined;
    const releaseBuffer = () => {
      this.totalBufferedBytes -= bufferedBytes;
      bufferedBytes = 0;
      chunks.length = 0;
    };
    try {
      for await (const chunk of request) {
        receivedBytes += chunk.length;
        if (receivedBytes > maxDrainBytes) request.destroy();
        if (refusal) continue;
        bufferedBytes += chunk.length;
        this.totalBufferedBytes += chunk.length;
        chunks.push(chunk);
        if (bufferedBytes > maxBodyBytes) refusal = bodyTooLarge;
        else if (this.totalBufferedBytes > maxTotalBytes) refusal = tooManyLargeBodies;
        if (refusal) releaseBuffer();
      }
      return refusal ?? { kind: "read", bytes: Buffer.concat(chunks) };
    } catch {
      return { kind: "gone" };
    } finally {
      releaseBuffer();
    }
  }
}

const bodyTooLarge: BodyReadResult = {
  kind: "refused",
  status: 413,
  reason: "the body is over 64 MB",
};
const tooManyLargeBodies: BodyReadResult = {
  kind: "refused",
  status: 529,
  reason: "too many large concurrent requests",
};
