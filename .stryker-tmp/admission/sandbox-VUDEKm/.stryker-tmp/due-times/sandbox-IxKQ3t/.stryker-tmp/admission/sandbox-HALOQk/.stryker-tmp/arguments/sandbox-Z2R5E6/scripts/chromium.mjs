// Debian's Chromium for tests, screenshots and benches. Installed on first use.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { installMissing } from "./docker-engine/install.mjs";

/** Chromium's sandbox does not work as root. The other flags disable background requests. */
const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];

export async function installChromium() {
  await installMissing({ chromium: "chromium" }, "Chromium");
}

/** Launches Chromium with extra flags, and a temp folder that is removed when it exits. */
export async function launchChromium(more = []) {
  const folder = mkdtempSync(join(tmpdir(), "chromium-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const browser = await chromium.launch({
      executablePath: "/usr/bin/chromium",
      args: [...flags, ...more],
      env: { ...process.env, TMPDIR: folder },
      headless: true,
    });
    return browser.once("disconnected", remove);
  } catch (error) {
    remove();
    throw error;
  }
}
