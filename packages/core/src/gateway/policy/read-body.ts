import type { IncomingMessage } from "node:http";

/** The API itself takes 32 MB. */
const longestBody = 64 * 1024 * 1024;
const longestTogether = 2 * longestBody;

export type ReadBody =
  | { kind: "read"; bytes: Buffer }
  | { kind: "refused"; status: 413 | 529; reason: string }
  | { kind: "gone" };

/** Holds bodies whole while they are looked at; all of one gateway share the room for it. */
export class BodyRoom {
  private held = 0;

  read(request: IncomingMessage): Promise<ReadBody> {
    return new Promise((resolve) => {
      const chunks: Buffer[] = [];
      let size = 0;
      const done = (body: ReadBody) => {
        this.held -= size;
        size = 0;
        request.off("data", take);
        resolve(body);
      };
      const take = (chunk: Buffer) => {
        size += chunk.length;
        this.held += chunk.length;
        if (size > longestBody) done(tooLong);
        else if (this.held > longestTogether) done(tooMany);
        else chunks.push(chunk);
      };
      request.on("data", take);
      request.once("end", () => done({ kind: "read", bytes: Buffer.concat(chunks) }));
      request.once("close", () => done({ kind: "gone" }));
    });
  }
}

const tooLong: ReadBody = { kind: "refused", status: 413, reason: "the body is over 64 MB" };
const tooMany: ReadBody = {
  kind: "refused",
  status: 529,
  reason: "too many long requests at once",
};
