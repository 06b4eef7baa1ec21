import type { IncomingMessage } from "node:http";
import { UserError } from "@herdctl/core";
import type { Room } from "./room.ts";

/** The bytes as they came. What is too large is refused as soon as that is known, not once it is here. */
export async function readBody(
  incoming: IncomingMessage,
  limit: number,
  room: Room,
): Promise<Buffer> {
  if (Number(incoming.headers["content-length"] ?? 0) > limit) throw tooLarge(limit);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    await new Promise<void>((resolve, reject) => {
      incoming.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size > limit) return reject(tooLarge(limit));
        if (!room.take(chunk.length)) return reject(crowded());
        chunks.push(chunk);
      });
      const gone = () => reject(new SenderGone());
      incoming.once("close", gone);
      incoming.once("error", (cause) => reject(new SenderGone(cause)));
      incoming.once("end", () => {
        incoming.off("close", gone);
        resolve();
      });
    });
    return Buffer.concat(chunks);
  } finally {
    incoming.removeAllListeners("data");
    room.give(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  }
}

/** Nobody is left to be answered. */
export class SenderGone extends Error {
  override readonly name = "SenderGone";

  constructor(cause?: unknown) {
    super("the sender went away, or was too slow", { cause });
  }
}

function tooLarge(limit: number): UserError {
  return new UserError("request_too_large", `a body has at most ${limit} bytes here`, {
    hint: "Have the sender leave out what is not needed.",
  });
}

function crowded(): UserError {
  return new UserError("fleet_unreachable", "too much is being delivered at once", {
    hint: "Send it again later.",
  });
}
