import type { Page } from "playwright-core";
import { onTestFinished } from "vitest";
import { installChromium, launchChromium } from "../../scripts/chromium.mjs";

export interface PageOptions {
  size?: { width: number; height: number };
  scheme?: "light" | "dark";
}

export const phoneSize = { width: 390, height: 844 };
const desktopSize = { width: 1280, height: 800 };

/**
 * Installs Chromium if it is missing. Await it at the top of a file, where no time limit applies.
 */
export function ensureChromium(): Promise<void> {
  return installChromium();
}

/**
 * A page in a separate browser, both closed at the end of the test. The test fails when the page
 * violates its policy or throws.
 */
export async function openPage({
  size = desktopSize,
  scheme = "light",
}: PageOptions = {}): Promise<Page> {
  const browser = await launchChromium();
  const pageErrors: string[] = [];
  onTestFinished(async () => {
    await browser.close();
    if (pageErrors.length > 0)
      throw new Error(`the page had trouble:\n  ${pageErrors.join("\n  ")}`);
  });
  const context = await browser.newContext({ viewport: size, colorScheme: scheme });
  const page = await context.newPage();
  page.on("pageerror", (error) => pageErrors.push(String(error)));
  page.on("console", (message) => {
    const text = message.text();
    if (text.includes("Content Security Policy")) pageErrors.push(text);
  });
  return page;
}
