import { expect, onTestFinished, test } from "vitest";
import { openPostgres } from "../../../packages/core/src/state/postgres/open.ts";
import { until } from "../../support/fleet-program.ts";
import { testDatabase } from "../../support/postgres.ts";
import { proxyTo, through } from "../../support/proxy.ts";

async function listener(address: string) {
  const { shared, close } = await openPostgres(address);
  onTestFinished(close);
  const heard: string[] = [];
  let missed = 0;
  const stop = await shared.listen(
    (text) => heard.push(text),
    () => {
      missed += 1;
    },
  );
  return { shared, heard, stop, missed: () => missed };
}

test("news reach everybody in order, also who said them", async () => {
  const address = await testDatabase();
  const [a, b] = [await listener(address), await listener(address)];
  const texts = Array.from({ length: 50 }, (_, at) => `news ${at}`);
  for (const text of texts) a.shared.notify(text);
  await until("all are heard", async () => a.heard.length === 50 && b.heard.length === 50);
  expect(a.heard).toEqual(texts);
  expect(b.heard).toEqual(texts);
});

test("any text goes, and what is too long is left out", async () => {
  const { shared, heard } = await listener(await testDatabase());
  shared.notify("x".repeat(9_000));
  shared.notify("a\0b'\ud800");
  await until("it is heard", async () => heard.length > 0);
  expect(heard).toEqual(["a\0b'\ud800"]);
});

test("who stopped listening hears nothing", async () => {
  const address = await testDatabase();
  const [a, b] = [await listener(address), await listener(address)];
  await a.stop();
  b.shared.notify("x");
  await until("b hears it", async () => b.heard.length === 1);
  expect(a.heard).toEqual([]);
});

test("a line that broke is made anew, and it is said that something may have been missed", async () => {
  const address = await testDatabase();
  const proxy = await proxyTo(Number(new URL(address).port));
  const far = await listener(through(proxy, address));
  const near = await listener(address);
  await proxy.refuse();
  near.shared.notify("lost");
  far.shared.notify("late");
  await until("near hears its own", async () => near.heard.includes("lost"));
  expect(far.missed()).toBe(0);
  await proxy.restore();
  await until("the line is up again", async () => far.missed() === 1);
  await until("what could not be said is said now", async () => near.heard.includes("late"));
  near.shared.notify("again");
  await until("far hears again", async () => far.heard.includes("again"));
  expect(far.heard).not.toContain("lost");
});
