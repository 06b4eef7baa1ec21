import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { launchChromium } from "../../scripts/chromium.mjs";
import { dashboardStage } from "../dashboard/stage.ts";
import { type PortStage, portStage } from "../server/port-stage.ts";
import { chromiumIsThere } from "../support/chromium.ts";
import { until } from "../support/fleet-program.ts";

await chromiumIsThere();
const long = { timeout: 180_000 };

/** A page of somebody else's on this machine, and its port. */
async function foreignSite(html = "<p>nothing to see</p>"): Promise<number> {
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

/** Chromium has walls of its own around this machine's ports; ours must hold without them. */
const wallsDown = [
  "--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests",
  "--host-resolver-rules=MAP evil.example 127.0.0.1",
];

async function openedPage(): Promise<Page> {
  const browser = await launchChromium(wallsDown);
  onTestFinished(() => browser.close());
  return browser.newPage();
}

/** A page in the browser of the fleet's owner, who is signed in. */
async function ownersPage(on: PortStage): Promise<Page> {
  const page = await openedPage();
  await page.goto(on.access.loginLink("admin", "user:test")?.url ?? "");
  await page.waitForURL(`http://127.0.0.1:${on.port}/`);
  const cookies = await page.context().cookies();
  expect(cookies).toMatchObject([{ httpOnly: true, sameSite: "Strict" }]);
  return page;
}

const attackProgram = readFileSync(new URL("programs/attack.mjs", import.meta.url), "utf8");

/** What a page of another origin tries, and what came of it. */
async function attack(page: Page, fleet: string): Promise<Record<string, string>> {
  await page.evaluate(attackProgram);
  return page.evaluate(`attack(${JSON.stringify(fleet)})`);
}

async function nothingHappened({ fleet }: PortStage): Promise<void> {
  expect((await fleet.jobs({ limit: 1 })).jobs).toEqual([]);
  expect((await fleet.status()).fleet.state).not.toBe("draining");
}

const fromOtherPort = "another port, to which the browser sends the cookie too";

test.each([
  [fromOtherPort, "127.0.0.1"],
  ["another site", "localhost"],
])("a page of %s can neither read, post, listen nor open a socket", long, async (_, host) => {
  const on = await portStage();
  const page = await ownersPage(on);
  await page.goto(`http://${host}:${await foreignSite()}/`);
  const seen = await attack(page, `http://127.0.0.1:${on.port}`);
  expect(seen).toEqual(Object.fromEntries(Object.keys(seen).map((name) => [name, "refused"])));
  await nothingHappened(on);
});

test(
  "a form of another page posts nothing, and no page can have ours inside it",
  long,
  async () => {
    const on = await portStage();
    const page = await ownersPage(on);
    const fleet = `http://127.0.0.1:${on.port}`;
    const form = `<form action="${fleet}/v1/jobs" method="post" enctype="text/plain">
    <input name='{"agent":"coder","x":"' value='"}'></form><iframe src="${fleet}/"></iframe>`;
    await page.goto(`http://127.0.0.1:${await foreignSite(form)}/`);
    const frame = await until("the frame to be refused", async () =>
      page.frames().find((one) => one !== page.mainFrame()),
    );
    expect(await frame.content()).not.toContain('id="app"');
    const answer = page.waitForResponse(`${fleet}/v1/jobs`);
    await page.evaluate("document.forms[0].submit()");
    expect((await answer).status()).toBe(403);
    await nothingHappened(on);
  },
);

test(
  "a name that was made to lead to the fleet after its page was loaded gets nothing",
  long,
  async () => {
    const on = await portStage();
    const page = await openedPage();
    const site = `http://evil.example:${on.port}`;
    // What its owner served before the name was pointed elsewhere.
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
    }, `Bearer ${on.token}`);
    expect(new Set(statuses)).toEqual(new Set([403]));
    await page.unroute(`${site}/`);
    expect((await page.goto(`${site}/`))?.status()).toBe(403);
    await nothingHappened(on);
  },
);

const evil = [
  "<script>window.hacked = 1</script>",
  "<img src=x onerror='window.hacked = 2'>",
  "[press](javascript:window.hacked=3)",
  "![picture](http://127.0.0.1:1/picture.png)",
  "<iframe srcdoc='<script>parent.hacked = 4</script>'></iframe>",
].join("\n\n");

test(
  "script in prompts, in what agents say and in names is shown, and does nothing",
  long,
  async () => {
    const on = await dashboardStage({
      script: {
        rules: [],
        default: { text: evil, tools: [{ name: "Bash", input: { command: `echo "${evil}"` } }] },
      },
      agents: "  - { name: coder, max_turns: 2 }",
    });
    const fleet = on.fleet();
    const { job } = await fleet.trigger({ trigger: "chat", agent: "coder", prompt: evil });
    await fleet.wait(job.id);
    const page = await on.open("/");
    const foreign: string[] = [];
    page.on("request", (request) => {
      if (!request.url().startsWith(on.url)) foreign.push(request.url());
    });
    const places = ["/", "/activity", `/jobs/${job.id}`, `/chat?agent=coder&with=${job.id}`];
    const names = [
      `/agents/${encodeURIComponent(evil)}`,
      `/activity?agent=${encodeURIComponent(evil)}`,
    ];
    for (const path of [...places, ...names]) {
      await page.goto(on.url + path);
      await page.getByRole("navigation", { name: "Pages" }).waitFor();
    }
    await page.goto(`${on.url}/chat?agent=coder&with=${job.id}`);
    await page.getByText("press").first().click();
    expect(await page.evaluate("window.hacked")).toBeUndefined();
    expect(await page.evaluate("document.querySelectorAll('iframe, main script').length")).toBe(0);
    expect(foreign).toEqual([]);
  },
);
