import { request } from "node:http";

/** Sends one request to the engine's API. The body can be a string or a stream. */
export function requestEngine(socketPath, method, path, body) {
  return new Promise((resolve, reject) => {
    const outgoing = request({ socketPath, method, path, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
      response.on("error", reject);
      response.on("end", () => resolve({ status: response.statusCode, body: text }));
    });
    outgoing.on("error", reject);
    if (body?.pipe) body.pipe(outgoing);
    else outgoing.end(body);
  });
}
