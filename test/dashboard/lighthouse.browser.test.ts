import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import lighthouse, { desktopConfig } from "lighthouse";
import { chromium } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { launchChromium } from "../../scripts/chromium.mjs";
import { ensureChromium } from "../support/chromium.ts";
import { waitUntil } from "../support/fleet-child-process.ts";
import { tempFolderWith } from "../support/temp-folder.ts";
import { freePort } from "../webhooks/webhook-harness.ts";
import { startDashboardHarness } from "./dashboard-harness.ts";

await ensureChromium();

const agents = `
  - { name: builder, runtime: cli, permission_mode: acceptEdits, default_prompt: "build" }
  - { name: careful, runtime: cli, permission_mode: default, default_prompt: "ask first" }
${Array.from({ length: 20 }, (_, index) => `  - { name: agent-${index} }`).join("\n")}`;

const script = {
  rules: [
    {
      match: { prompt: "build" },
      replies: [
        { text: "I **look** first.", tools: [{ name: "Bash", input: { command: "seq 1 40" } }] },
        "All is built.",
      ],
    },
    {
      match: { prompt: "ask" },
      replies: [
        { text: "May I?", tools: [{ name: "Bash", input: { command: "touch x" } }] },
        "Done.",
      ],
    },
  ],
};

const categories = ["performance", "accessibility", "best-practices"] as const;
type Scores = Record<(typeof categories)[number], number>;

const minPerformance = 95;

test("has the best scores of Lighthouse on the fleet, job and inbox pages", async () => {
  const harness = await startDashboardHarness({ script, agents });
  const { jobs } = harness.fleet();
  const { job } = await jobs.trigger({ agent: "builder" });
  await jobs.wait(job.id);
  await jobs.trigger({ agent: "careful" });
  await waitUntil("a request", async () => (await harness.fleet().approvals.list()).length > 0);
  const port = await openSignedInBrowser(harness.loginLink());
  const results: Record<string, Scores> = {};
  for (const path of ["/", `/jobs/${job.id}`, "/inbox"])
    results[path.replace(job.id, "")] = await measure(harness.url + path, port);
  process.stdout.write(`Lighthouse: ${JSON.stringify(results)}\n`);
  for (const [page, scores] of Object.entries(results)) {
    expect(scores, page).toMatchObject({ accessibility: 100, "best-practices": 100 });
    expect(scores.performance, page).toBeGreaterThanOrEqual(minPerformance);
  }
}, 600_000);

/** A browser that Lighthouse controls over the returned port. Its pages share the sign-in. */
async function openSignedInBrowser(loginLink: string): Promise<number> {
  const port = await freePort();
  const browser = await launchChromium([`--remote-debugging-port=${port}`]);
  onTestFinished(() => browser.close());
  const control = await chromium.connectOverCDP(`http://127.0.0.1:${port}`);
  onTestFinished(() => control.close());
  const page = await control.contexts()[0]?.newPage();
  await page?.goto(loginLink);
  await page?.getByRole("navigation", { name: "Pages" }).waitFor();
  await page?.close();
  return port;
}

/**
 * Counts the processor time of the page's tasks instead of their duration, because other programs
 * on the machine lengthen those.
 */
async function measure(url: string, port: number): Promise<Scores> {
  const folder = tempFolderWith({});
  const flags = { port, logLevel: "error" as const, onlyCategories: [...categories] };
  await lighthouse(url, { ...flags, gatherMode: folder }, desktopConfig);
  const file = join(folder, "trace.json");
  const trace = traceSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  writeFileSync(file, JSON.stringify({ ...trace, traceEvents: trace.traceEvents.map(toCpuTime) }));
  const result = await lighthouse(url, { ...flags, auditMode: folder }, desktopConfig);
  const scoreOf = (name: (typeof categories)[number]) =>
    Math.round((result?.lhr.categories[name]?.score ?? 0) * 100);
  return {
    performance: scoreOf("performance"),
    accessibility: scoreOf("accessibility"),
    "best-practices": scoreOf("best-practices"),
  };
}

const traceSchema = z.looseObject({
  traceEvents: z.array(z.looseObject({ dur: z.number().optional(), tdur: z.number().optional() })),
});

function toCpuTime<E extends { dur?: number; tdur?: number }>(event: E): E {
  const { dur, tdur } = event;
  return dur === undefined || tdur === undefined ? event : { ...event, dur: Math.min(dur, tdur) };
}
