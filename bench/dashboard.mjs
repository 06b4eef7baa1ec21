// The dashboard in a real browser: its first page for a large fleet, and how late it hears of an event.
import { join } from "node:path";
import { installChromium, launchChromium } from "../scripts/chromium.mjs";
import { finishedJobs } from "./finished-jobs.mjs";
import { inTurns } from "./measure.mjs";
import { startFleet } from "./running-fleet.mjs";
import { rehearsedFleet } from "./stage.mjs";

const large = { agents: 200, jobs: 10_000 };
const small = { agents: 1, jobs: 10 };
const rounds = 7;

export async function dashboardFirstPage() {
  await installChromium();
  const browser = await launchChromium();
  const stages = [await openFleet(browser, large), await openFleet(browser, small)];
  const [ours, bare] = stages.map(
    ({ page, agents }) =>
      () =>
        firstPage(page, agents),
  );
  try {
    return {
      what: `first page, ${large.agents} agents, 10,000 jobs`,
      beside: `${small.agents} agent, ${small.jobs} jobs`,
      ...(await inTurns(rounds, { ours, bare })),
      bound: { median: 1_500 },
    };
  } finally {
    await browser.close();
    for (const { close } of stages) await close();
  }
}

/** From the click to a page with every agent on it that has taken a key press. */
async function firstPage(page, agents) {
  await page.goto("about:blank");
  const began = performance.now();
  await page.goto(page.home, { waitUntil: "commit" });
  await page
    .getByRole("list", { name: "Agents" })
    .getByRole("listitem")
    .nth(agents - 1)
    .waitFor();
  await page.getByRole("searchbox").press("a");
  await page.waitForURL(/q=a/);
  return performance.now() - began;
}

const words = 200;
const slow = { text: "word ".repeat(words), delay: { between: "10ms" } };
const turns = [
  ...Array(20).fill({ ...slow, tools: [{ name: "Bash", input: { command: "true" } }] }),
  "Done.",
];

export async function dashboardEvents() {
  await installChromium();
  const browser = await launchChromium();
  const fleet = await openFleet(browser, small, { rules: [{ replies: turns }] });
  try {
    const { job } = await fleet.control.trigger({ trigger: "manual", agent: "agent-0" });
    const [ours, bare] = await Promise.all([
      lateness(fleet.page, job.id),
      latenessHere(fleet.control, job.id),
    ]);
    if (ours.length < 40) throw new Error(`only ${ours.length} messages told their time`);
    const what = "from the runner to the browser";
    return { what, beside: "to a program on the socket", ours, bare, bound: { p95: 50 } };
  } finally {
    await browser.close();
    await fleet.close();
  }
}

/**
 * How long ago each message was made when the page got it, in milliseconds. Some are told their time
 * by our runner, most by claude itself, a little earlier.
 */
function lateness(page, jobId) {
  return page.evaluate(async (id) => {
    const late = [];
    const source = new EventSource(`/v1/jobs/${id}/output?follow=true`);
    source.addEventListener("message", take);
    function take({ data }) {
      const { timestamp, herdctl_at = timestamp } = JSON.parse(data).message;
      if (herdctl_at !== undefined) late.push(Date.now() - Date.parse(herdctl_at));
    }
    await new Promise((done) => source.addEventListener("error", done, { once: true }));
    source.close();
    return late;
  }, jobId);
}

async function latenessHere(control, jobId) {
  const late = [];
  for await (const { message } of control.output(jobId, { follow: AbortSignal.timeout(600_000) })) {
    const { timestamp, herdctl_at = timestamp } = message;
    if (herdctl_at !== undefined) late.push(Date.now() - Date.parse(herdctl_at));
  }
  return late;
}

async function openFleet(browser, { agents, jobs }, script) {
  const names = Array.from({ length: agents }, (_, index) => `agent-${index}`);
  const stage = await rehearsedFleet({ script, fleetFile: fleetFile(names, jobs) });
  await finishedJobs(join(stage.folder, ".herdctl"), names, jobs);
  const fleet = await startFleet(stage);
  const page = await (await browser.newContext()).newPage();
  const { url } = await fleet.control.loginLink({});
  await page.goto(url);
  await page.getByRole("list", { name: "Agents" }).waitFor();
  page.home = new URL("/", url).href;
  const close = async () => {
    await fleet.stop();
    await stage.dispose();
  };
  return { page, agents, control: fleet.control, close };
}

function fleetFile(names, jobs) {
  const agent = (name) =>
    `  - { name: ${name}, permission_mode: bypassPermissions, default_prompt: Go on. }`;
  return `version: 1
fleet: { name: bench, retention: { jobs_per_agent: ${jobs} } }
agents:
${names.map(agent).join("\n")}
`;
}
