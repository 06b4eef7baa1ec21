import { connect, isIP, type LookupFunction, type Socket } from "node:net";
import type { Target } from "./target.ts";

const connectTime = 30_000;
/** A transfer may pause, a server may think; beyond this a connection is forgotten. */
export const idleTime = 10 * 60_000;

/** Connects to one of the addresses that were checked; the name is not looked up again. */
export function dial(
  { host, port }: Target,
  addresses: readonly string[],
  signal: AbortSignal,
): Promise<Socket> {
  const known = addresses.map((address) => ({ address, family: isIP(address) }));
  const lookup: LookupFunction = (_host, options, done) => {
    const [first] = known;
    if (options.all || first === undefined) done(null, known);
    else done(null, first.address, first.family);
  };
  const attempt = { autoSelectFamily: true, autoSelectFamilyAttemptTimeout: 1_000 };
  const socket = connect({ host, port, lookup, allowHalfOpen: true, signal, ...attempt });
  return new Promise((resolve, reject) => {
    const tooLong = setTimeout(() => socket.destroy(timedOut()), connectTime);
    socket.once("connect", () => {
      clearTimeout(tooLong);
      socket.off("error", reject);
      socket.on("error", () => undefined);
      socket.setTimeout(idleTime, () => socket.destroy());
      resolve(socket);
    });
    socket.once("error", reject);
    socket.once("close", () => clearTimeout(tooLong));
  });
}

function timedOut(): NodeJS.ErrnoException {
  return Object.assign(new Error("the connection took too long"), { code: "ETIMEDOUT" });
}
