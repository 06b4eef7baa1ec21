import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { launchChromium } from "../../scripts/chromium.mjs";
import { startDashboardHarness } from "../dashboard/dashboard-harness.ts";
import { type HttpHarness, startHttpHarness } from "../server/http-harness.ts";
import { ensureChromium } from "../support/chromium.ts";
import { waitUntil } from "../support/fleet-child-process.ts";

await ensureChromium();
const longTimeout = { timeout: 180_000 };

/** Serves a foreign page on this machine and returns its port. */
async function serveForeignSite(html = "<p>nothing to see</p>"): Promise<number> {
  const server: Server = createServer((_, response) => {
    response.setHeader("content-type", "text/html").end(html);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Disables Chromium's own protection of local ports; the fleet must be safe without it. */
const weakenedBrowserFlags = [
  "--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests",
  "--host-resolver-rules=MAP evil.example 127.0.0.1",
];

async function openUnprotectedPage(): Promise<Page> {
  const browser = await launchChromium(weakenedBrowserFlags);
  onTestFinished(() => browser.close());
  return browser.newPage();
}

/** A page in the browser of the signed-in owner. */
async function openSignedInPage(harness: HttpHarness): Promise<Page> {
  const page = await openUnprotectedPage();
  await page.goto(harness.access.createLoginLink("admin", "user:test")?.url ?? "");
  await page.waitForURL(`http://127.0.0.1:${harness.port}/`);
  const cookies = await page.context().cookies();
  expect(cookies).toMatchObject([{ httpOnly: true, sameSite: "Strict" }]);
  return page;
}

const attackProgram = readFileSync(
  new URL("programs/cross-origin-attack.mjs", import.meta.url),
  "utf8",
);

/** Runs the attacks of a page from another origin and returns their results. */
async function runAttack(page: Page, fleet: string): Promise<Record<string, string>> {
  await page.evaluate(attackProgram);
  return page.evaluate(`attack(${JSON.stringify(fleet)})`);
}

async function expectNoEffect({ fleet }: HttpHarness): Promise<void> {
  expect((await fleet.jobs.list({ limit: 1 })).jobs).toEqual([]);
  expect((await fleet.status()).fleet.state).not.toBe("draining");
}

const fromOtherPort = "another port, to which the browser sends the cookie too";

test.each([
  [fromOtherPort, "127.0.0.1"],
  ["another site", "localhost"],
])(
  "keeps a page of %s from reading, posting, listening and opening sockets",
  longTimeout,
  async (_, host) => {
    const harness = await startHttpHarness();
    const page = await openSignedInPage(harness);
    await page.goto(`http://${host}:${await serveForeignSite()}/`);
    const seen = await runAttack(page, `http://127.0.0.1:${harness.port}`);
    expect(seen).toEqual(Object.fromEntries(Object.keys(seen).map((name) => [name, "refused"])));
    await expectNoEffect(harness);
  },
);

test("refuses forms of other pages and cannot be embedded", longTimeout, async () => {
  const harness = await startHttpHarness();
  const page = await openSignedInPage(harness);
  const fleet = `http://127.0.0.1:${harness.port}`;
  const form = `<form action="${fleet}/v1/jobs" method="post" enctype="text/plain">
    <input name='{"agent":"coder","x":"' value='"}'></form><iframe src="${fleet}/"></iframe>`;
  await page.goto(`http://127.0.0.1:${await serveForeignSite(form)}/`);
  const frame = await waitUntil("the frame to be refused", async () =>
    page.frames().find((one) => one !== page.mainFrame()),
  );
  expect(await frame.content()).not.toContain('id="app"');
  const answer = page.waitForResponse(`${fleet}/v1/jobs`);
  await page.evaluate("document.forms[0].submit()");
  expect((await answer).status()).toBe(403);
  await expectNoEffect(harness);
});

test(
  "refuses a host name that was rebound to the fleet after its page was loaded",
  longTimeout,
  async () => {
    const harness = await startHttpHarness();
    const page = await openUnprotectedPage();
    const site = `http://evil.example:${harness.port}`;
    // The page that its owner served before rebinding the name.
    await page.route(`${site}/`, (route) =>
      route.fulfill({ contentType: "text/html", body: "<p>a page</p>" }),
    );
    await page.goto(`${site}/`);
    const statuses = await page.evaluate(async (authorization) => {
      const headers = { authorization };
      const asked = [
        fetch("/v1/status", { headers }),
        fetch("/v1/events", { headers }),
        fetch("/metrics", { headers }),
        fetch("/login"),
        fetch("/healthz"),
        fetch("/v1/jobs", { method: "POST", headers, body: '{"agent":"coder"}' }),
      ];
      return (await Promise.all(asked)).map(({ status }) => status);
    }, `Bearer ${harness.token}`);
    expect(new Set(statuses)).toEqual(new Set([403]));
    await page.unroute(`${site}/`);
    expect((await page.goto(`${site}/`))?.status()).toBe(403);
    await expectNoEffect(harness);
  },
);

const maliciousMarkup = [
  "<script>window.hacked = 1</script>",
  "<img src=x onerror='window.hacked = 2'>",
  "[press](javascript:window.hacked=3)",
  "![picture](http://127.0.0.1:1/picture.png)",
  "<iframe srcdoc='<script>parent.hacked = 4</script>'></iframe>",
].join("\n\n");

test(
  "shows script in prompts, agent output and names without running it",
  longTimeout,
  async () => {
    const harness = await startDashboardHarness({
      script: {
        rules: [],
        default: {
          text: maliciousMarkup,
          tools: [{ name: "Bash", input: { command: `echo "${maliciousMarkup}"` } }],
        },
      },
      agents: "  - { name: coder, max_turns: 2 }",
    });
    const fleet = harness.fleet();
    const { job } = await fleet.jobs.trigger({
      agent: "coder",
      prompt: maliciousMarkup,
    });
    await fleet.jobs.wait(job.id);
    const page = await harness.openPage("/");
    const foreign: string[] = [];
    page.on("request", (request) => {
      if (!request.url().startsWith(harness.url)) foreign.push(request.url());
    });
    const places = ["/", "/activity", `/jobs/${job.id}`, `/chat?agent=coder&with=${job.id}`];
    const names = [
      `/agents/${encodeURIComponent(maliciousMarkup)}`,
      `/activity?agent=${encodeURIComponent(maliciousMarkup)}`,
    ];
    for (const path of [...places, ...names]) {
      await page.goto(harness.url + path);
      await page.getByRole("navigation", { name: "Pages" }).waitFor();
    }
    await page.goto(`${harness.url}/chat?agent=coder&with=${job.id}`);
    await page.getByText("press").first().click();
    expect(await page.evaluate("window.hacked")).toBeUndefined();
    expect(await page.evaluate("document.querySelectorAll('iframe, main script').length")).toBe(0);
    expect(foreign).toEqual([]);
  },
);
