import { renameSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { until } from "./fleet-stage.ts";

/**
 * Takes the place of a fleet's socket: what is asked is passed on, and what is answered to an order
 * (a POST) only when released. From then on the fleet's own socket is back.
 */
export async function withheldAnswers(socket: string) {
  const real = `${socket}.real`;
  const callers = new Set<Socket>();
  const held: (() => void)[] = [];
  const server = createServer((caller) => {
    const fleet = connect(real);
    let isOrder = false;
    callers.add(caller);
    caller.on("data", (asked) => {
      isOrder ||= asked.includes("POST ");
      fleet.write(asked);
    });
    fleet.on("data", (answer) => {
      if (isOrder && server.listening) held.push(() => caller.write(answer));
      else caller.write(answer);
    });
    for (const [one, other] of [
      [caller, fleet],
      [fleet, caller],
    ] as const) {
      one.on("error", () => undefined).on("close", () => other.destroy());
    }
  });
  renameSync(socket, real);
  await new Promise<void>((done) => server.listen(socket, done));
  onTestFinished(() => {
    for (const caller of callers) caller.destroy();
  });
  return {
    until: (count: number) => until(() => held.length >= count),
    release: () => {
      server.close();
      renameSync(real, socket);
      for (const pass of held) pass();
    },
  };
}
