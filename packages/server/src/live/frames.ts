export interface Frame {
  id: string | number;
  event: string;
  json: string;
}

/** What is sent at once. Bytes are the same for all who are sent them; a text is made anew for each. */
export type Piece = string | Uint8Array;

/** JSON has no line ends of its own, so that one line of data is enough. */
export function sseFrame({ id, event, json }: Frame): Uint8Array {
  return Buffer.from(`id: ${id}\nevent: ${event}\ndata: ${json}\n\n`);
}

const beat = ":\n\n";

/** A sign of life whenever nothing has been said for a while; the first one at once. */
export async function* withHeartbeat(
  source: AsyncIterable<Piece>,
  every = 15_000,
): AsyncGenerator<Piece> {
  const iterator = source[Symbol.asyncIterator]();
  yield beat;
  try {
    let next = iterator.next();
    for (;;) {
      const said = await soon(next, every);
      if (said === undefined) {
        yield beat;
        continue;
      }
      if (said.done) return;
      yield said.value;
      next = iterator.next();
    }
  } finally {
    await iterator.return?.();
  }
}

async function soon<T>(promise: Promise<T>, milliseconds: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), milliseconds);
    timer.unref();
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
