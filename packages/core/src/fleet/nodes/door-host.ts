import { connect } from "node:net";
import { isLoopback } from "../../config/server-tokens.ts";
import { parseAddress } from "../../state/postgres/address.ts";

const patience = 2_000;

/**
 * On which address a node listens for its peers: the one that the configuration names, or the one
 * from which it reaches the store. With a store on this machine that is loopback; else peers come
 * from where the store is, and nothing but their signed question is answered.
 */
export async function doorHost(configured: string, store: string): Promise<string> {
  if (!isLoopback(configured)) return configured;
  const { server } = parseAddress(store);
  if (server.startsWith("/")) return configured;
  return (await ownAddressTowards(server)) ?? configured;
}

function ownAddressTowards(server: string): Promise<string | undefined> {
  const { hostname, port } = new URL(`tcp://${server}`);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname.replace(/^\[|\]$/g, ""), port: Number(port) });
    const answer = (address?: string) => {
      socket.destroy();
      resolve(address);
    };
    socket.setTimeout(patience, () => answer());
    socket.once("error", () => answer());
    socket.once("connect", () => answer(socket.localAddress));
  });
}
