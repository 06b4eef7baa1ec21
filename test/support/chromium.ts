import type { Page } from "playwright-core";
import { onTestFinished } from "vitest";
import { installChromium, launchChromium } from "../../scripts/chromium.mjs";

export interface PageOptions {
  size?: { width: number; height: number };
  scheme?: "light" | "dark";
}

export const phone = { width: 390, height: 844 };
const desk = { width: 1280, height: 800 };

/** Chromium, installed when it is not there: ask at the top of a file, where no time limit is set. */
export function chromiumIsThere(): Promise<void> {
  return installChromium();
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
