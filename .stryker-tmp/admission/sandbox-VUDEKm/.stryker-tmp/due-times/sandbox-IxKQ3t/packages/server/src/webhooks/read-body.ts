import type { IncomingMessage } from "node:http";
import { UserError } from "@herdctl/protocol";
import type { ByteBudget } from "./byte-budget.ts";

/** Reads the raw body. A body that is too large is rejected as early as possible. */
export async function readBody(
  incoming: IncomingMessage,
  maxBytes: number,
  budget: ByteBudget,
): Promise<Buffer> {
  // defence: declared-body-size
  if (Number(incoming.headers["content-length"] ?? 0) > maxBytes) throw bodyTooLargeError(maxBytes);
  const chunks: Buffer[] = [];
  let receivedBytes = 0;
  try {
    await new Promise<void>((resolve, reject) => {
      incoming.on("data", (chunk: Buffer) => {
        receivedBytes += chunk.length;
        // defence: actual-body-size
        if (receivedBytes > maxBytes) return reject(bodyTooLargeError(maxBytes));
        if (!budget.tryReserve(chunk.length)) return reject(overloadedError());
        chunks.push(chunk);
      });
      const onClose = () => reject(new ClientDisconnectedError());
      incoming.once("close", onClose);
      incoming.once("error", (cause) => reject(new ClientDisconnectedError(cause)));
      incoming.once("end", () => {
        incoming.off("close", onClose);
        resolve();
      });
    });
    return Buffer.concat(chunks);
  } finally {
    incoming.removeAllListeners("data");
    budget.release(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  }
}

/** The client disconnected, so no response can be sent. */
export class ClientDisconnectedError extends Error {
  override readonly name = "SenderGone";

  constructor(cause?: unknown) {
    super("the client disconnected or was too slow", { cause });
  }
}

function bodyTooLargeError(maxBytes: number): UserError {
  return new UserError("request_too_large", `the body exceeds ${maxBytes} bytes`, {
    hint: "Configure the sender to send less data.",
  });
}

function overloadedError(): UserError {
  return new UserError("fleet_unreachable", "too many deliveries are being received", {
    hint: "Send the request again later.",
  });
}
