// Takes screenshots of every dashboard page with a real fleet, in light, dark and phone format:
//   node scripts/screenshots.mjs [page …]
// If HERDCTL_STORE is the address of an empty PostgreSQL database, the fleet has several nodes,
// which the page `nodes` requires.
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { installChromium, launchChromium } from "./chromium.mjs";
import { startFleet } from "./screenshots/start-fleet.mjs";

const folder = resolve(import.meta.dirname, "../docs/pictures/dashboard");
const only = process.argv.slice(2);
const looks = [
  { look: "light", viewport: { width: 1440, height: 900 }, colorScheme: "light" },
  { look: "dark", viewport: { width: 1440, height: 900 }, colorScheme: "dark" },
  { look: "phone", viewport: { width: 390, height: 844 }, colorScheme: "light" },
];

mkdirSync(folder, { recursive: true });
await installChromium();
const { jobs, link, stop } = await startFleet();
const pages = {
  fleet: "/",
  agent: "/agents/fixer",
  "agent-schedules": "/agents/reporter?tab=schedules",
  "agent-sessions": "/agents/reporter?tab=sessions",
  "agent-configuration": "/agents/fixer?tab=configuration",
  "agent-security": "/agents/fixer?tab=security",
  "agent-edit": "/agents/reporter?tab=edit",
  job: `/jobs/${jobs.live}`,
  "job-done": `/jobs/${jobs.done}`,
  "job-failed": `/jobs/${jobs.failed}`,
  inbox: "/inbox",
  costs: "/costs",
  activity: "/activity",
  "activity-due": "/activity?tab=due",
  search: "/search?q=prices",
  access: "/access",
  audit: "/audit",
  settings: "/settings",
  chat: `/chat?agent=reporter&with=${jobs.chat}`,
  ...(process.env.HERDCTL_STORE && { nodes: "/nodes" }),
  design: "/design",
};
const browser = await launchChromium();
try {
  for (const { look, ...options } of looks) {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    await page.goto(link());
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    for (const [name, path] of Object.entries(pages)) {
      if (only.length > 0 && !only.includes(name)) continue;
      await page.goto(new URL(path, page.url()).href);
      await page.locator("main h1").first().waitFor();
      // Wait for data, charts and streamed text.
      await pause(1_200);
      if (name === "agent-edit") await typeChanges(page);
      await page.screenshot({ path: join(folder, `${name}-${look}.png`) });
    }
    await context.close();
  }
} finally {
  await browser.close();
  await stop();
}

/** An edit that is not written, so that the picture shows its change of the file. */
async function typeChanges(page) {
  await page.getByLabel("Description").fill("Writes the weekly report and its summary");
  await page.getByLabel("Cron").fill("0 8 * * 1-5");
  await page.getByRole("region", { name: "Changes to the file" }).waitFor();
  await page.getByRole("region", { name: "Next due times of weekly" }).waitFor();
  await page.evaluate("scrollTo(0, 0)");
}
