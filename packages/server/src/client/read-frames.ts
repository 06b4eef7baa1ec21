import type { IncomingMessage } from "node:http";

export interface ReadFrame {
  event: string;
  data: string;
}

/** Server-sent events out of an answer, in the one form in which the fleet writes them. */
export async function* readFrames(response: IncomingMessage): AsyncGenerator<ReadFrame> {
  let frame: Partial<ReadFrame> = {};
  for await (const line of linesOf(response)) {
    const { event, data } = frame;
    if (line.startsWith("event: ")) frame.event = line.slice(7);
    else if (line.startsWith("data: ")) frame.data = line.slice(6);
    else if (line === "" && event !== undefined && data !== undefined) {
      yield { event, data };
      frame = {};
    }
  }
}

async function* linesOf(response: IncomingMessage): AsyncGenerator<string> {
  response.setEncoding("utf8");
  let unfinished: string[] = [];
  for await (const chunk of response) {
    const [first = "", ...rest] = String(chunk).split("\n");
    unfinished.push(first);
    for (const next of rest) {
      yield unfinished.join("");
      unfinished = [next];
    }
  }
}
