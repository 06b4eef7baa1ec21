import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, posix, resolve } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { sidebar, slugOf } from "../../site/sidebar.mjs";
import { waitForExit } from "../cli/run-herdctl.ts";
import { ensureChromium, openPage } from "../support/chromium.ts";

const checkout = resolve(import.meta.dirname, "../..");
const built = join(checkout, "site/dist");

await ensureChromium();

beforeAll(async () => {
  const script = join(checkout, "scripts/site.mjs");
  const run = await waitForExit(spawn(process.execPath, [script], { env: process.env }));
  expect(run, run.stderr).toMatchObject({ code: 0 });
  expect(run.stdout).toContain("site/dist");
}, 900_000);

test("builds every page of the sidebar, including a start page", () => {
  const pages = sidebar.flatMap((group) => group.pages);
  const missing = ["", ...pages.map(slugOf)].filter(
    (slug) => !existsSync(join(built, slug, "index.html")),
  );
  expect(missing).toEqual([]);
});

test("has no dead link, anchor or picture in the built pages", () => {
  const pages = filesIn(built, ".html").filter((page) => page !== "404.html");
  expect(pages.length).toBeGreaterThan(30);
  const dead = pages.flatMap((page) =>
    targetsOf(page)
      .filter((target) => !targetExists(page, target))
      .map((target) => `${page}: ${target}`),
  );
  expect(dead).toEqual([]);
});

test("searches pages without another server and loads nothing from elsewhere", async () => {
  const url = await served(built);
  const page = await openPage();
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  for (const path of ["", "guides/docker/", "reference/cli/"]) {
    await page.goto(url + path);
    await page.locator("h1").first().waitFor();
  }
  await page.getByRole("button", { name: "Search" }).click();
  await page.getByPlaceholder("Search").fill("used-up limit");
  await page.locator(".pagefind-ui__result-link").first().waitFor();
  await page.getByPlaceholder("Search").fill("usage_limit");
  await page.locator('.pagefind-ui__result-link[href*="reference/outcomes"]').first().waitFor();
  expect(asked.length).toBeGreaterThan(10);
  expect(asked.filter((one) => !one.startsWith(url) && !one.startsWith("data:"))).toEqual([]);
});

test("animates the demo picture without a script", async () => {
  const picture = readFileSync(join(checkout, "docs/pictures/demo.svg"), "utf8");
  expect(picture.length).toBeLessThan(200_000);
  expect(picture).not.toMatch(/<script|href|login#\w/);
  const page = await openPage();
  await page.goto(`file://${join(checkout, "docs/pictures/demo.svg")}`);
  const states = await page.evaluate<string[]>(
    "document.getAnimations().map((one) => one.playState)",
  );
  expect(states.length).toBeGreaterThan(20);
  expect(new Set(states)).toEqual(new Set(["running"]));
});

function filesIn(folder: string, ending: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return names.filter((name) => name.endsWith(ending));
}

/** Links and resources of a page, except those of other sites. */
function targetsOf(page: string): string[] {
  const html = readFileSync(join(built, page), "utf8");
  const found = [...html.matchAll(/\s(?:href|src)="([^"]+)"/g)].map(([, target = ""]) => target);
  return [...new Set(found)].filter((target) => !/^(https?|data|mailto):/.test(target));
}

function targetExists(page: string, target: string): boolean {
  const [path = "", anchor = ""] = target.replaceAll("&amp;", "&").split("#");
  const from = posix.join("/", posix.dirname(page), "/");
  const to = path === "" ? `/${page}` : posix.join(path.startsWith("/") ? path : from + path);
  const file = fileAt(built, to);
  if (!file) return false;
  return anchor === "" || readFileSync(file, "utf8").includes(` id="${anchor}"`);
}

function fileAt(folder: string, path: string): string | undefined {
  const file = join(folder, decodeURIComponent(path));
  if (!existsSync(file)) return undefined;
  if (!statSync(file).isDirectory()) return file;
  const index = join(file, "index.html");
  return existsSync(index) ? index : undefined;
}

const types: Record<string, string> = {
  ".css": "text/css",
  ".html": "text/html",
  ".js": "text/javascript",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

/** A minimal static web server. */
async function served(folder: string): Promise<string> {
  const server = createServer((request, response) => {
    const file = fileAt(folder, new URL(request.url ?? "", "http://any").pathname);
    if (!file) return response.writeHead(404).end();
    const type = types[extname(file)] ?? "application/octet-stream";
    response.writeHead(200, { "content-type": type }).end(readFileSync(file));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => new Promise((done) => server.close(() => done())));
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/`;
}
