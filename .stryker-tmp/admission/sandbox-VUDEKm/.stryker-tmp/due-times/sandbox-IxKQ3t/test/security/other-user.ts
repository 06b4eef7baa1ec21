import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { text } from "node:stream/consumers";

/** Another user of this machine. */
export const otherUser = { uid: 65534, gid: 65534 };

/** Makes all parent folders accessible, so that only herdctl's own permissions keep others out. */
export function makeTraversable(folder: string): void {
  for (let path = folder; path !== dirname(path); path = dirname(path)) {
    const { mode } = statSync(path);
    if ((mode & 0o005) !== 0o005) chmodSync(path, mode | 0o005);
  }
}

export interface ReachedPath {
  path: string;
  how: "read" | "listed" | "written" | "connected";
  text: string;
}

/** Returns which of these files, folders and sockets a process of another user can access. */
export async function pathsReachedByOtherUser(paths: readonly string[]): Promise<ReachedPath[]> {
  const child = spawn(process.execPath, ["-e", program], {
    ...otherUser,
    cwd: "/",
    env: {},
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.end(JSON.stringify(paths));
  const [output] = await Promise.all([text(child.stdout), once(child, "close")]);
  return JSON.parse(output);
}

const program = `
const fs = require("fs"), net = require("net");
const got = [];
const attempt = (how, path, look) => {
  try { got.push({ path, how, text: look() }); } catch {}
};
(async () => {
  for (const path of JSON.parse(fs.readFileSync(0, "utf8"))) {
    attempt("read", path, () => fs.readFileSync(path, "latin1"));
    attempt("listed", path, () => fs.readdirSync(path).join(" "));
    attempt("written", path, () => { fs.closeSync(fs.openSync(path, "r+")); return ""; });
    await new Promise((done) => {
      const socket = net.connect(path, () => {
        got.push({ path, how: "connected", text: "" });
        socket.destroy();
      });
      socket.on("error", done).on("close", done);
    });
  }
  process.stdout.write(JSON.stringify(got));
})();
`;
