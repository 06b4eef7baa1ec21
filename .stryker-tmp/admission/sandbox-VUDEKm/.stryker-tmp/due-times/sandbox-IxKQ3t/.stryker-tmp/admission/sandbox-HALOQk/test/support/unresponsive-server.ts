import { createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { waitUntil } from "./fleet-child-process.ts";

/** Accepts every connection and never answers. */
export async function startSilentServer() {
  const callers: Socket[] = [];
  const server = createServer((caller) => {
    caller.on("error", () => undefined);
    callers.push(caller);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(async () => {
    for (const caller of callers) caller.destroy();
    await new Promise((done) => server.close(done));
  });
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    called: () => waitUntil("a connection", async () => callers.length > 0),
  };
}
