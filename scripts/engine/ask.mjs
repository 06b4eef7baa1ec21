import { request } from "node:http";

/** One request to the engine's API; the body may be a text or a stream. */
export function ask(socketPath, method, path, body) {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, method, path, agent: false }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (piece) => {
        text += piece;
      });
      answer.on("error", reject);
      answer.on("end", () => resolve({ status: answer.statusCode, body: text }));
    });
    sent.on("error", reject);
    if (body?.pipe) body.pipe(sent);
    else sent.end(body);
  });
}
