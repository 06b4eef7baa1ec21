import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { RequestEnd } from "../ledger.ts";
import type { Delivery } from "./delivery.ts";

/** Sends what was planned, and tells how it really ended. */
export async function deliver(
  response: ServerResponse,
  delivery: Delivery,
  gone: AbortSignal,
): Promise<RequestEnd> {
  const { status, headers, chunks, delay, end } = delivery;
  if (end === "never") return await untilGone(gone);
  await pause(delay.first, gone);
  if (gone.aborted) return "client_gone";
  response.writeHead(status, headers);
  response.flushHeaders();
  for (const [index, chunk] of chunks.entries()) {
    if (index > 0) await pause(delay.between, gone);
    if (gone.aborted) return "client_gone";
    await new Promise((resolve) => response.write(chunk, resolve));
  }
  if (end === "silence") return await untilGone(gone);
  if (end === "break") {
    response.destroy();
    return "broken_off";
  }
  response.end();
  return "answered";
}

async function untilGone(gone: AbortSignal): Promise<RequestEnd> {
  if (!gone.aborted) await once(gone, "abort");
  return "client_gone";
}

async function pause(milliseconds: number, gone: AbortSignal): Promise<void> {
  if (milliseconds === 0) return;
  await sleep(milliseconds, undefined, { signal: gone }).catch(() => undefined);
}
