import { spawn } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Others on the machine can read the arguments of our processes, so the link goes by a file that
 * only this user can read. Where no browser comes up, the link stands in the terminal.
 */
export function openBrowser(url: string, stateDir: string, env: NodeJS.ProcessEnv): void {
  const program = openerOf(env);
  if (program === undefined) return;
  const file = join(stateDir, "open.html");
  rmSync(file, { force: true });
  const page = `<!doctype html><meta http-equiv="refresh" content="0;url=${url}">\n`;
  writeFileSync(file, page, { mode: 0o600, flag: "wx" });
  const child = spawn(program, [file], { detached: true, stdio: "ignore", env });
  child.on("error", () => undefined);
  child.unref();
}

function openerOf(env: NodeJS.ProcessEnv): string | undefined {
  if (process.platform === "darwin") return "open";
  return env.DISPLAY || env.WAYLAND_DISPLAY ? "xdg-open" : undefined;
}
