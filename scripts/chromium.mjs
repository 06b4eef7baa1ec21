// Debian's Chromium for tests, pictures and benches; installed when it is not there.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { installMissing } from "./engine/install.mjs";

/** Root has no sandbox for it; and it calls nobody at home. */
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

/** With further flags, such as where a name leads. What it leaves in its temp folder goes with it. */
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
