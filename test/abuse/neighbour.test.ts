import {
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { createApp, serveOnSocket } from "@herdctl/server";
import { expect, onTestFinished, test, vi } from "vitest";
import { SmallFleet } from "../server/small-fleet.ts";
import { pathsBelow, unlessGone } from "../support/below.ts";
import { richServer } from "../support/bridged.ts";
import { fleetFile } from "../support/fleet-process.ts";
import { fleetProgram, until } from "../support/fleet-program.ts";
import { folderWith } from "../support/folder.ts";
import { processList } from "../support/process-list.ts";
import { processesWith } from "../support/processes.ts";
import { obey } from "../support/runtime.ts";
import { stage } from "../support/stage.ts";
import { tcpToSocket } from "../support/tcp-to-socket.ts";
import { freePort } from "../webhooks/hook-stage.ts";
import { openTheWay, reachedByStranger, stranger } from "./neighbour.ts";

const key = "canary-key-of-the-operator";
const serverSecret = "canary-secret-of-a-server";

test("another user, and another process, gets nothing of a fleet at work", async () => {
  const plain = await stage({ mode: "obedient" });
  const root = dirname(plain.home);
  const on = { ...plain, env: { ...plain.env, ANTHROPIC_API_KEY: key } };
  const port = await freePort();
  const server = `rich: { command: node, args: ["${richServer}"], env: { DIARY: "${join(on.home, "diary")}", SECRET: "${serverSecret}" } }`;
  const file = fleetFile(on, `  - { name: coder, runtime: cli, mcp_servers: { ${server} } }`);
  const folder = dirname(file);
  const text = readFileSync(file, "utf8");
  writeFileSync(file, `${text}server: { port: ${port} }\n`);
  openTheWay(root);
  openTheWay(folder);
  const state = join(folder, ".herdctl");
  const fleet = await fleetProgram(on, file);
  const prompt = obey(["Bash", { command: "touch busy; sleep 600" }]);
  const { job } = await fleet.control.trigger({ trigger: "manual", agent: "coder", prompt });
  await until("the tool to be at work", async () => readdirSync(on.workspace).includes("busy"));

  const own = [state, ...pathsBelow(state)];
  expect(own).toEqual(
    expect.arrayContaining(
      [
        "herd.db",
        "token",
        "herdctl.sock",
        `jobs/${job.id}/output.jsonl`,
        `jobs/${job.id}/runner.sock`,
      ].map((name) => join(state, name)),
    ),
  );
  const processes = processesWith(root);
  expect(processes.length).toBeGreaterThan(2);
  const insides = processes.flatMap((pid) =>
    ["environ", "mem", "fd"].map((one) => `/proc/${pid}/${one}`),
  );
  const reached = await reachedByStranger([file, ...own, ...insides]);
  // He does get as far as the folder: what keeps him out is ours.
  expect(reached.map(({ path, how }) => [path, how])).toEqual([[file, "read"]]);

  const token = readFileSync(join(state, "token"), "utf8").trim();
  const secrets = [key, serverSecret, token];
  // Closed by itself too, not only by the folder around it.
  const holding = own.filter((path) => isOpenFile(path) && holds(path, secrets));
  expect(holding).toEqual([]);
  const lying = await reachedByStranger(pathsBelow(root));
  expect(lying.length).toBeGreaterThan(0);
  expect(lying.filter(({ text }) => secrets.some((one) => text.includes(one)))).toEqual([]);
  const list = processList();
  expect(secrets.filter((one) => list.includes(one))).toEqual([]);

  expect((await fetch(`http://127.0.0.1:${port}/v1/status`)).status).toBe(401);
  const gatewaySocket = gatewayOf(processes);
  expect(await reachedByStranger([gatewaySocket, dirname(gatewaySocket)])).toEqual([]);
  const gateway = await tcpToSocket(gatewaySocket);
  const body = JSON.stringify({ model: "claude-sonnet-4-5", max_tokens: 1, messages: [] });
  for (const given of ["", key, "herdctl-guess"]) {
    const headers = { "content-type": "application/json", "x-api-key": given };
    const answer = await fetch(`${gateway}/v1/messages`, { method: "POST", headers, body });
    expect([given, answer.status]).toEqual([given, 401]);
  }
  await fleet.control.cancel(job.id);
  await fleet.control.wait(job.id);
  await fleet.stop();
});

const taken: [what: string, take: (folder: string) => void][] = [
  [
    "another user's folder",
    (folder) => {
      mkdirSync(folder, { mode: 0o700 });
      chownSync(folder, stranger.uid, stranger.gid);
    },
  ],
  ["a folder that is open to others", (folder) => void mkdirSync(folder, { mode: 0o777 })],
  ["a link to somewhere else", (folder) => symlinkSync(dirname(folder), folder)],
];

test.each(taken)("a folder for sockets that is %s is not used", async (_, take) => {
  const fleet = await SmallFleet.open();
  onTestFinished(() => fleet.close());
  const temp = folderWith({});
  vi.stubEnv("TMPDIR", temp);
  onTestFinished(() => void vi.unstubAllEnvs());
  const usual = process.umask(0);
  take(join(temp, `herdctl-${process.getuid?.()}`));
  process.umask(usual);
  const long = join(temp, "x".repeat(100));
  mkdirSync(long);
  const serving = serveOnSocket(createApp(fleet), join(long, "herdctl.sock"));
  await expect(serving).rejects.toMatchObject({ code: "address_in_use" });
});

function isOpenFile(path: string): boolean {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  return entry?.isFile() === true && (entry.mode & 0o077) !== 0;
}

function holds(file: string, secrets: readonly string[]): boolean {
  const text = unlessGone(() => readFileSync(file, "latin1")) ?? "";
  return secrets.some((one) => text.includes(one));
}

/** The socket on which the runs reach the API, as one of them was told. */
function gatewayOf(processes: readonly number[]): string {
  const told = processes.flatMap((pid) => {
    const text = unlessGone(() => readFileSync(`/proc/${pid}/environ`, "utf8")) ?? "";
    const environ = text.split("\0");
    const address = environ.find((one) => one.startsWith("ANTHROPIC_UNIX_SOCKET="));
    const isRun = environ.some((one) => one.startsWith("HERDCTL_RUN="));
    return address && isRun ? [address.slice("ANTHROPIC_UNIX_SOCKET=".length)] : [];
  });
  return told[0] ?? expect.fail("no run was told where the gateway is");
}
