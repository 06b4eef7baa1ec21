// Checks the signature of each request and stores nothing; prints its URL.
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";

const [secret] = process.argv.slice(2);
const server = createServer(async (request, response) => {
  const hash = createHmac("sha256", secret)
    .update(await buffer(request))
    .digest("hex");
  const actual = Buffer.from(String(request.headers["x-hub-signature-256"]));
  const expected = Buffer.from(`sha256=${hash}`);
  const isSigned = actual.length === expected.length && timingSafeEqual(actual, expected);
  response.writeHead(isSigned ? 202 : 401).end();
});
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`http://127.0.0.1:${server.address().port}/\n`);
});
