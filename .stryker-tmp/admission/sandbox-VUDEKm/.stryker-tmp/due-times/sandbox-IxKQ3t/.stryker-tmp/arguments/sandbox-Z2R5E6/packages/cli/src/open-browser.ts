import { spawn } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Opens the link through a file that only this user can read, because other users can read the
 * arguments of processes. If no browser opens, the user can still open the printed link.
 */
export function openBrowser(url: string, stateDir: string, env: NodeJS.ProcessEnv): void {
  const program = browserCommand(env);
  if (program === undefined) return;
  const file = join(stateDir, "open.html");
  rmSync(file, { force: true });
  const page = `<!doctype html><meta http-equiv="refresh" content="0;url=${url}">\n`;
  writeFileSync(file, page, { mode: 0o600, flag: "wx" });
  const child = spawn(program, [file], { detached: true, stdio: "ignore", env });
  child.on("error", () => undefined);
  child.unref();
}

function browserCommand(env: NodeJS.ProcessEnv): string | undefined {
  if (process.platform === "darwin") return "open";
  return env.DISPLAY || env.WAYLAND_DISPLAY ? "xdg-open" : undefined;
}
