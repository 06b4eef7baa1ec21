import { createServer } from "node:net";
import type { LoadedFleet } from "../../config/load.ts";
import { isAnyPortGood } from "../../triggers/webhook/any-port.ts";
import { type Finding, failed, ok, warning } from "../check.ts";
import type { RunningFleet } from "./running.ts";
import { type Listener, whoListens } from "./who-listens.ts";

export interface PortFacts {
  host: string;
  port: number;
  /** Nobody has to know the port: another one will do as well. */
  anyPort: boolean;
  /** Why nobody can listen there, such as `EADDRINUSE`. */
  obstacle: string | undefined;
  listener: Listener | undefined;
  running: RunningFleet | undefined;
}

export async function checkPort(
  loaded: Pick<LoadedFleet, "fleet" | "trees">,
  running: RunningFleet | undefined,
): Promise<Finding> {
  const { host, port } = loaded.fleet.server;
  const anyPort = isAnyPortGood(loaded);
  const obstacle = await obstacleAt(host, port);
  const listener = obstacle === "EADDRINUSE" ? whoListens(port) : undefined;
  return judgePort({ host, port, anyPort, obstacle, listener, running });
}

export function judgePort(facts: PortFacts): Finding {
  const name = "port";
  const { host, port, anyPort, obstacle, listener, running } = facts;
  const place = `${host}:${port}`;
  if (obstacle === undefined) return ok(name, `${place} is free.`);
  if (isOwn(facts)) return ok(name, `This fleet listens at ${running?.url ?? place}.`);
  const choose = "choose another `server.port`";
  if (obstacle === "EADDRINUSE") {
    const message = `${place} is taken by ${listenerText(listener)}.`;
    if (anyPort) return ok(name, `${message} Another one will do.`);
    return failed(name, message, `Stop what listens there, or ${choose}.`);
  }
  if (obstacle === "EACCES") {
    const message = `This user may not listen at ${place}.`;
    return failed(
      name,
      message,
      `Ports below 1024 are for root: ${choose}, behind a proxy if need be.`,
    );
  }
  const hint = "Correct `server.host`: it must be an address of this machine.";
  if (obstacle === "EADDRNOTAVAIL" || obstacle === "ENOTFOUND") {
    return failed(name, `${host} is no address of this machine.`, hint);
  }
  return warning(name, `Nobody could listen at ${place} (${obstacle}).`, hint);
}

function isOwn({ port, listener, running }: PortFacts): boolean {
  if (running === undefined) return false;
  return listener?.pid === running.pid || (running.url !== null && portOf(running.url) === port);
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}

function listenerText(listener: Listener | undefined): string {
  if (listener === undefined) return "another program, which this user may not see";
  const fleet = listener.fleetDir === undefined ? "" : `, the fleet of ${listener.fleetDir}`;
  return `process ${listener.pid} (${listener.program}${fleet})`;
}

async function obstacleAt(host: string, port: number): Promise<string | undefined> {
  const server = createServer();
  return await new Promise((resolve) => {
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}
