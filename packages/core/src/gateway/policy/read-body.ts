import type { IncomingMessage } from "node:http";

/** The API itself takes 32 MB. */
const longestBody = 64 * 1024 * 1024;
const longestTogether = 2 * longestBody;
/** How long we listen to a body that is refused: an answer before its end would get lost. */
const longestHeard = 4 * longestBody;

export type ReadBody =
  | { kind: "read"; bytes: Buffer }
  | { kind: "refused"; status: 413 | 529; reason: string }
  | { kind: "gone" };

/** Holds bodies whole while they are looked at; all of one gateway share the room for it. */
export class BodyRoom {
  private held = 0;

  async read(request: IncomingMessage): Promise<ReadBody> {
    const chunks: Buffer[] = [];
    let [heard, kept] = [0, 0];
    let refusal: ReadBody | undefined;
    const letGo = () => {
      this.held -= kept;
      kept = 0;
      chunks.length = 0;
    };
    try {
      for await (const chunk of request) {
        heard += chunk.length;
        if (heard > longestHeard) request.destroy();
        if (refusal) continue;
        kept += chunk.length;
        this.held += chunk.length;
        chunks.push(chunk);
        if (kept > longestBody) refusal = tooLong;
        else if (this.held > longestTogether) refusal = tooMany;
        if (refusal) letGo();
      }
      return refusal ?? { kind: "read", bytes: Buffer.concat(chunks) };
    } catch {
      return { kind: "gone" };
    } finally {
      letGo();
    }
  }
}

const tooLong: ReadBody = { kind: "refused", status: 413, reason: "the body is over 64 MB" };
const tooMany: ReadBody = {
  kind: "refused",
  status: 529,
  reason: "too many long requests at once",
};
