// A private PostgreSQL server for tests. Prints its address as JSON, then reads the commands `stop`,
// `kill` and `start` from standard input and confirms each on one line. Removes everything when
// standard input ends.
import { createInterface } from "node:readline";
import { createServerIn } from "./postgres/server.mjs";

const server = await createServerIn(process.argv.includes("--durable"));
process.on("SIGINT", () => undefined);
try {
  await server.start();
  printState({ address: server.address });
  for await (const line of createInterface({ input: process.stdin })) {
    await server[line]();
    printState({ done: line });
  }
} finally {
  await server.remove();
}

function printState(state) {
  process.stdout.write(`${JSON.stringify(state)}\n`);
}
