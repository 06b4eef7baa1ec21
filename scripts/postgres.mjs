// A private PostgreSQL for tests. Says where it is on one line, obeys `stop`, `kill` and `start`
// with a line for each, and takes everything with it when its input ends.
import { createInterface } from "node:readline";
import { createServerIn } from "./postgres/server.mjs";

const server = await createServerIn(process.argv.includes("--durable"));
process.on("SIGINT", () => undefined);
try {
  await server.start();
  say({ address: server.address });
  for await (const line of createInterface({ input: process.stdin })) {
    await server[line]();
    say({ done: line });
  }
} finally {
  await server.remove();
}

function say(what) {
  process.stdout.write(`${JSON.stringify(what)}\n`);
}
