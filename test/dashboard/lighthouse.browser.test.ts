import lighthouse, { desktopConfig } from "lighthouse";
import { chromium } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { launchChromium } from "../../scripts/chromium.mjs";
import { ensureChromium } from "../support/chromium.ts";
import { waitUntil } from "../support/fleet-child-process.ts";
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

/** Other programs on the machine can only lower a score. */
const maxRuns = 4;
/** What Lighthouse measures on the desktop computer for which its settings are made. */
const usualBenchmarkIndex = 1_500;
const phoneSlowdown = 4;
const minPerformance = 95;

test.each(["desktop", "phone"] as const)(
  "has the best scores of Lighthouse on a %s",
  async (device) => {
    const harness = await startDashboardHarness({ script, agents });
    const { jobs } = harness.fleet();
    const { job } = await jobs.trigger({ agent: "builder" });
    await jobs.wait(job.id);
    await jobs.trigger({ agent: "careful" });
    await waitUntil("a request", async () => (await harness.fleet().approvals.list()).length > 0);
    const port = await openSignedInBrowser(harness.loginLink());
    const results: Record<string, Scores> = {};
    for (const path of ["/", `/jobs/${job.id}`, "/inbox"])
      results[path.split("/", 2).join("/")] = await bestScores(harness.url + path, port, device);
    process.stdout.write(`Lighthouse on a ${device}: ${JSON.stringify(results)}\n`);
    for (const [page, scores] of Object.entries(results)) {
      expect(scores, page).toMatchObject({ accessibility: 100, "best-practices": 100 });
      expect(scores.performance, page).toBeGreaterThanOrEqual(minPerformance);
    }
  },
  600_000,
);

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

async function bestScores(url: string, port: number, device: "desktop" | "phone") {
  let best: Scores | undefined;
  let benchmarkIndex = usualBenchmarkIndex;
  for (let run = 0; run < maxRuns; run += 1) {
    const result = await lighthouse(
      url,
      { port, logLevel: "error", onlyCategories: [...categories] },
      device === "desktop" ? desktopConfig : phoneConfig(benchmarkIndex),
    );
    if (!result) return expect.fail(`Lighthouse has no result for ${url}`);
    const { lhr } = result;
    benchmarkIndex = lhr.environment.benchmarkIndex;
    const scores = Object.fromEntries(
      categories.map((name) => [name, Math.round((lhr.categories[name]?.score ?? 0) * 100)]),
    ) as Scores;
    if (best === undefined || scores.performance > best.performance) best = scores;
    if (best.performance >= minPerformance) break;
  }
  return best ?? expect.fail(`no scores for ${url}`);
}

/** Slows a computer down to a phone. A computer that is slow already is slowed down less. */
function phoneConfig(benchmarkIndex: number) {
  const cpuSlowdownMultiplier = Math.max(
    1,
    Math.min(phoneSlowdown, (phoneSlowdown * benchmarkIndex) / usualBenchmarkIndex),
  );
  return {
    extends: "lighthouse:default",
    settings: { throttling: { rttMs: 150, throughputKbps: 1_638.4, cpuSlowdownMultiplier } },
  };
}
