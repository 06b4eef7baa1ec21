import type { IncomingMessage } from "node:http";

export interface ReceivedSseEvent {
  event: string;
  data: string;
}

/** Parses server-sent events in the format the fleet writes. */
export async function* readSseEvents(response: IncomingMessage): AsyncGenerator<ReceivedSseEvent> {
  let pending: Partial<ReceivedSseEvent> = {};
  for await (const line of readLines(response)) {
    const { event, data } = pending;
    if (line.startsWith("event: ")) pending.event = line.slice(7);
    else if (line.startsWith("data: ")) pending.data = line.slice(6);
    else if (line === "" && event !== undefined && data !== undefined) {
      yield { event, data };
      pending = {};
    }
  }
}

async function* readLines(response: IncomingMessage): AsyncGenerator<string> {
  response.setEncoding("utf8");
  let unfinishedLine: string[] = [];
  for await (const chunk of response) {
    const [first = "", ...rest] = String(chunk).split("\n");
    unfinishedLine.push(first);
    for (const next of rest) {
      yield unfinishedLine.join("");
      unfinishedLine = [next];
    }
  }
}
