import { renameSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { waitUntil } from "./cli-harness.ts";

/**
 * Replaces a fleet's socket: forwards requests and holds back the responses to POST requests until
 * released. Afterwards the fleet's own socket is restored.
 */
export async function withholdResponses(socket: string) {
  const realSocket = `${socket}.real`;
  const callers = new Set<Socket>();
  const heldResponses: (() => void)[] = [];
  const server = createServer((caller) => {
    const fleet = connect(realSocket);
    let isCommand = false;
    callers.add(caller);
    caller.on("data", (asked) => {
      isCommand ||= asked.includes("POST ");
      fleet.write(asked);
    });
    fleet.on("data", (answer) => {
      if (isCommand && server.listening) heldResponses.push(() => caller.write(answer));
      else caller.write(answer);
    });
    for (const [one, other] of [
      [caller, fleet],
      [fleet, caller],
    ] as const) {
      one.on("error", () => undefined).on("close", () => other.destroy());
    }
  });
  renameSync(socket, realSocket);
  await new Promise<void>((done) => server.listen(socket, done));
  onTestFinished(() => {
    for (const caller of callers) caller.destroy();
  });
  return {
    until: (count: number) => waitUntil(() => heldResponses.length >= count),
    release: () => {
      server.close();
      renameSync(realSocket, socket);
      for (const pass of heldResponses) pass();
    },
  };
}
