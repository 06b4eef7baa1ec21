import { expect, test } from "vitest";
import { githubHeaders, githubSchedule, startWebhookHarness } from "./webhook-harness.ts";

const mebibyte = 1024 * 1024;

test("answers a body over the limit so that its sender can read the answer", async () => {
  const { port, fleet } = await startWebhookHarness([githubSchedule]);
  const body = Buffer.alloc(6 * mebibyte, "x");
  const headers = { "content-type": "application/json", ...githubHeaders(body.toString()) };
  for (let round = 0; round < 5; round += 1) {
    const url = `http://127.0.0.1:${port}/hooks/coder/issues`;
    const answer = await fetch(url, { method: "POST", headers, body });
    expect([answer.status, await answer.json()]).toMatchObject([
      413,
      { errors: [{ code: "request_too_large" }] },
    ]);
  }
  expect((await fleet.deliveries.list()).refused).toMatchObject([{ count: 5 }]);
});

test("decides about a signed body that is nested deeply or has very long lists", async () => {
  const { post } = await startWebhookHarness([
    githubSchedule.replace("prompt:", "filter: { action: opened }, prompt:"),
  ]);
  const nested = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  const long = `[${Array(1_000_000).fill("0").join(",")}]`;
  for (const body of [nested, long]) {
    const answer = await post("coder/issues", body, githubHeaders(body));
    expect(answer.status).toBe(200);
  }
});
