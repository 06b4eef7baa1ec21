import { expect, onTestFinished, test } from "vitest";
import { openPostgres } from "../../../packages/core/src/store/postgres/open.ts";
import { waitUntil } from "../../support/fleet-child-process.ts";
import { createTestDatabase } from "../../support/postgres.ts";
import { proxiedAddress, startTcpProxy } from "../../support/tcp-proxy.ts";

async function startListener(address: string) {
  const { shared, close } = await openPostgres(address);
  onTestFinished(close);
  const received: string[] = [];
  let missed = 0;
  const stop = await shared.listen(
    (text) => received.push(text),
    () => {
      missed += 1;
    },
  );
  return { shared, received, stop, missed: () => missed };
}

test("delivers notifications to everyone in order, including the sender", async () => {
  const address = await createTestDatabase();
  const [a, b] = [await startListener(address), await startListener(address)];
  const texts = Array.from({ length: 50 }, (_, at) => `news ${at}`);
  for (const text of texts) a.shared.notify(text);
  await waitUntil(
    "all are heard",
    async () => a.received.length === 50 && b.received.length === 50,
  );
  expect(a.received).toEqual(texts);
  expect(b.received).toEqual(texts);
});

test("sends any text and omits what is too long", async () => {
  const { shared, received } = await startListener(await createTestDatabase());
  shared.notify("x".repeat(9_000));
  shared.notify("a\0b'\ud800");
  await waitUntil("it to be received", async () => received.length > 0);
  expect(received).toEqual(["a\0b'\ud800"]);
});

test("delivers nothing after unsubscribing", async () => {
  const address = await createTestDatabase();
  const [a, b] = [await startListener(address), await startListener(address)];
  await a.stop();
  b.shared.notify("x");
  await waitUntil("b to receive it", async () => b.received.length === 1);
  expect(a.received).toEqual([]);
});

test("reconnects a broken connection and reports that notifications may be missing", async () => {
  const address = await createTestDatabase();
  const proxy = await startTcpProxy(Number(new URL(address).port));
  const far = await startListener(proxiedAddress(proxy, address));
  const near = await startListener(address);
  await proxy.refuse();
  near.shared.notify("lost");
  far.shared.notify("late");
  await waitUntil("near to receive its own event", async () => near.received.includes("lost"));
  expect(far.missed()).toBe(0);
  await proxy.restore();
  await waitUntil("the connection to be restored", async () => far.missed() === 1);
  await waitUntil("the delayed post", async () => near.received.includes("late"));
  near.shared.notify("again");
  await waitUntil("far to receive events again", async () => far.received.includes("again"));
  expect(far.received).not.toContain("lost");
});
