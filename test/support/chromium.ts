import { type Browser, chromium, type Page } from "playwright-core";
import { onTestFinished } from "vitest";
import { installMissing } from "../../scripts/engine/install.mjs";

export interface PageOptions {
  size?: { width: number; height: number };
  scheme?: "light" | "dark";
}

export const phone = { width: 390, height: 844 };
const desk = { width: 1280, height: 800 };

/** As FACTS of the platform demand it: root has no sandbox, and nobody is called at home. */
const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];

/** Debian's Chromium, installed when it is not there: ask at the top of a file, where no time limit is set. */
export async function chromiumIsThere(): Promise<void> {
  await installMissing({ chromium: "chromium" }, "Chromium");
}

export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: "chromium", args: flags, headless: true });
}

/**
 * A page in a browser of its own, both closed when the test is over. What a page may not do (run
 * code or load something that its policy forbids, throw) fails the test.
 */
export async function openPage({ size = desk, scheme = "light" }: PageOptions = {}): Promise<Page> {
  const browser = await launchChromium();
  const troubles: string[] = [];
  onTestFinished(async () => {
    await browser.close();
    if (troubles.length > 0) throw new Error(`the page had trouble:\n  ${troubles.join("\n  ")}`);
  });
  const context = await browser.newContext({ viewport: size, colorScheme: scheme });
  const page = await context.newPage();
  page.on("pageerror", (error) => troubles.push(String(error)));
  page.on("console", (message) => {
    const text = message.text();
    if (text.includes("Content Security Policy")) troubles.push(text);
  });
  return page;
}
