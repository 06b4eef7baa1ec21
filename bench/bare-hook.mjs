// Answers signed deliveries and keeps none of them; prints its address.
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";

const [secret] = process.argv.slice(2);
const server = createServer(async (request, response) => {
  const sum = createHmac("sha256", secret)
    .update(await buffer(request))
    .digest("hex");
  const given = Buffer.from(String(request.headers["x-hub-signature-256"]));
  const wanted = Buffer.from(`sha256=${sum}`);
  const isSigned = given.length === wanted.length && timingSafeEqual(given, wanted);
  response.writeHead(isSigned ? 202 : 401).end();
});
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`http://127.0.0.1:${server.address().port}/\n`);
});
