import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { RequestOutcome } from "../request-ledger.ts";
import type { PlannedResponse } from "./planned-response.ts";

/** Sends a planned response and returns how it ended. */
export async function sendResponse(
  response: ServerResponse,
  plannedResponse: PlannedResponse,
  clientGone: AbortSignal,
): Promise<RequestOutcome> {
  const { status, headers, chunks, delay, ending } = plannedResponse;
  if (ending === "never") return await waitUntilGone(clientGone);
  await pause(delay.first, clientGone);
  if (clientGone.aborted) return "client_gone";
  response.writeHead(status, headers);
  response.flushHeaders();
  for (const [index, chunk] of chunks.entries()) {
    if (index > 0) await pause(delay.between, clientGone);
    if (clientGone.aborted) return "client_gone";
    await new Promise((resolve) => response.write(chunk, resolve));
  }
  if (ending === "silence") return await waitUntilGone(clientGone);
  if (ending === "break") {
    response.destroy();
    return "broken_off";
  }
  response.end();
  return "answered";
}

async function waitUntilGone(clientGone: AbortSignal): Promise<RequestOutcome> {
  if (!clientGone.aborted) await once(clientGone, "abort");
  return "client_gone";
}

async function pause(milliseconds: number, clientGone: AbortSignal): Promise<void> {
  if (milliseconds === 0) return;
  await sleep(milliseconds, undefined, { signal: clientGone }).catch(() => undefined);
}
