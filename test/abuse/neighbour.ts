import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { text } from "node:stream/consumers";

/** Somebody else with an account on this machine. */
export const stranger = { uid: 65534, gid: 65534 };

/** Lets everybody walk as far as this folder, so that what keeps them out is our own. */
export function openTheWay(folder: string): void {
  for (let path = folder; path !== dirname(path); path = dirname(path)) {
    const { mode } = statSync(path);
    if ((mode & 0o005) !== 0o005) chmodSync(path, mode | 0o005);
  }
}

export interface Reached {
  path: string;
  how: "read" | "listed" | "written" | "connected";
  text: string;
}

/** What a process of another user gets of these paths: files, folders, sockets. */
export async function reachedByStranger(paths: readonly string[]): Promise<Reached[]> {
  const child = spawn(process.execPath, ["-e", program], {
    ...stranger,
    cwd: "/",
    env: {},
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.end(JSON.stringify(paths));
  const [said] = await Promise.all([text(child.stdout), once(child, "close")]);
  return JSON.parse(said);
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
