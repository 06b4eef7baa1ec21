// Debian's Chromium for tests, pictures and benches; installed when it is not there.
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

/** With further flags, such as where a name leads. */
export function launchChromium(more = []) {
  return chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: [...flags, ...more],
    headless: true,
  });
}
