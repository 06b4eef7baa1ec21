// Prints the most memory, in MB, that this process used with one message of 20 MB.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assistant, throughExecutor } from "./messages.mjs";

const message = assistant("x".repeat(20 * 1024 * 1024));
if (process.argv[2] === "log") {
  const stateDir = mkdtempSync(join(tmpdir(), "herdctl-bench-"));
  await throughExecutor(stateDir, [message]);
  rmSync(stateDir, { recursive: true, force: true });
}
process.stdout.write(String(process.resourceUsage().maxRSS / 1024));
