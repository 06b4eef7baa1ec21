// How long a message of a running job takes to the dashboard in a browser, compared with a client at the socket.
import { installChromium, launchChromium } from "../scripts/chromium.mjs";
import { withFleet } from "./bench-fleet.mjs";

const slowTurn = {
  text: "word ".repeat(200),
  delay: { between: "10ms" },
  tools: [{ name: "Bash", input: { command: "true" } }],
};
const script = { rules: [{ replies: [...Array(20).fill(slowTurn), "Done."] }] };

export async function browserEvents() {
  await installChromium();
  const browser = await launchChromium();
  try {
    return await withFleet({ script }, async ({ control }) => {
      const page = await browser.newPage();
      const { url } = await control.createLoginLink({});
      await page.goto(url);
      await page.getByRole("list", { name: "Agents" }).waitFor();
      const { job } = await control.jobs.trigger({ agent: "hello" });
      const [inBrowser, atSocket] = await Promise.all([
        delaysInBrowser(page, job.id),
        delaysAtSocket(control, job.id),
      ]);
      if (inBrowser.length < 40) {
        throw new Error(`only ${inBrowser.length} messages had a timestamp`);
      }
      return {
        name: "event to the browser",
        values: inBrowser,
        baseline: { name: "to a client at the socket", values: atSocket },
        bound: { p95: 50 },
      };
    });
  } finally {
    await browser.close();
  }
}

/** Milliseconds from the timestamp of each message, by the runner or by `claude`, to its arrival. */
function delaysInBrowser(page, jobId) {
  return page.evaluate(async (id) => {
    const delays = [];
    const source = new EventSource(`/v1/jobs/${id}/output?follow=true`);
    source.addEventListener("message", ({ data }) => {
      const { timestamp, herdctl_at = timestamp } = JSON.parse(data).message;
      if (herdctl_at !== undefined) delays.push(Date.now() - Date.parse(herdctl_at));
    });
    await new Promise((resolve) => source.addEventListener("error", resolve, { once: true }));
    source.close();
    return delays;
  }, jobId);
}

async function delaysAtSocket(control, jobId) {
  const delays = [];
  for await (const { message } of control.jobs.output(jobId, {
    follow: true,
    signal: AbortSignal.timeout(600_000),
  })) {
    const { timestamp, herdctl_at = timestamp } = message;
    if (herdctl_at !== undefined) delays.push(Date.now() - Date.parse(herdctl_at));
  }
  return delays;
}
