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
import { FakeFleet } from "../server/fake-fleet.ts";
import { startFleetProcess, waitUntil } from "../support/fleet-child-process.ts";
import { startHarness } from "../support/harness.ts";
import { writeFleetFile } from "../support/in-process-fleet.ts";
import { ignoreMissing, listPathsBelow } from "../support/list-paths.ts";
import { richMcpServer } from "../support/mcp-bridge.ts";
import { listProcesses } from "../support/process-list.ts";
import { processesWithMarker } from "../support/processes-with-marker.ts";
import { toolCallPrompt } from "../support/runtimes-under-test.ts";
import { forwardTcpToSocket } from "../support/tcp-to-unix-socket.ts";
import { tempFolderWith } from "../support/temp-folder.ts";
import { freePort } from "../webhooks/webhook-harness.ts";
import { makeTraversable, otherUser, pathsReachedByOtherUser } from "./other-user.ts";

const key = "canary-key-of-the-operator";
const serverSecret = "canary-secret-of-a-server";

test("gives another user and another process nothing of a running fleet", async () => {
  const plain = await startHarness({ mode: "obedient" });
  const root = dirname(plain.home);
  const harness = { ...plain, env: { ...plain.env, ANTHROPIC_API_KEY: key } };
  const port = await freePort();
  const server = `rich: { command: node, args: ["${richMcpServer}"], env: { DIARY: "${join(harness.home, "diary")}", SECRET: "${serverSecret}" } }`;
  const file = writeFleetFile(
    harness,
    `  - { name: coder, runtime: cli, mcp_servers: { ${server} } }`,
  );
  const folder = dirname(file);
  const text = readFileSync(file, "utf8");
  writeFileSync(file, `${text}server: { port: ${port} }\n`);
  makeTraversable(root);
  makeTraversable(folder);
  const state = join(folder, ".herdctl");
  const fleet = await startFleetProcess(harness, file);
  const prompt = toolCallPrompt(["Bash", { command: "touch busy; sleep 600" }]);
  const { job } = await fleet.control.jobs.trigger({ agent: "coder", prompt });
  await waitUntil("the tool to be at work", async () =>
    readdirSync(harness.workspace).includes("busy"),
  );

  const own = [state, ...listPathsBelow(state)];
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
  const processes = processesWithMarker(root);
  expect(processes.length).toBeGreaterThan(2);
  const insides = processes.flatMap((pid) =>
    ["environ", "mem", "fd"].map((one) => `/proc/${pid}/${one}`),
  );
  const reached = await pathsReachedByOtherUser([file, ...own, ...insides]);
  // The other user can reach the folder, so only herdctl's own permissions keep them out.
  expect(reached.map(({ path, how }) => [path, how])).toEqual([[file, "read"]]);

  const token = readFileSync(join(state, "token"), "utf8").trim();
  const secrets = [key, serverSecret, token];
  // The file itself must be private too, not only the folder around it.
  const holding = own.filter((path) => isOpenFile(path) && containsSecret(path, secrets));
  expect(holding).toEqual([]);
  const lying = await pathsReachedByOtherUser(listPathsBelow(root));
  expect(lying.length).toBeGreaterThan(0);
  expect(lying.filter(({ text }) => secrets.some((one) => text.includes(one)))).toEqual([]);
  const list = listProcesses();
  expect(secrets.filter((one) => list.includes(one))).toEqual([]);

  expect((await fetch(`http://127.0.0.1:${port}/v1/status`)).status).toBe(401);
  const gatewaySocket = findGatewaySocket(processes);
  expect(await pathsReachedByOtherUser([gatewaySocket, dirname(gatewaySocket)])).toEqual([]);
  const gateway = await forwardTcpToSocket(gatewaySocket);
  const body = JSON.stringify({ model: "claude-sonnet-4-5", max_tokens: 1, messages: [] });
  for (const given of ["", key, "herdctl-guess"]) {
    const headers = { "content-type": "application/json", "x-api-key": given };
    const answer = await fetch(`${gateway}/v1/messages`, { method: "POST", headers, body });
    expect([given, answer.status]).toEqual([given, 401]);
  }
  await fleet.control.jobs.cancel(job.id);
  await fleet.control.jobs.wait(job.id);
  await fleet.stop();
});

const occupiedPaths: [what: string, take: (folder: string) => void][] = [
  [
    "another user's folder",
    (folder) => {
      mkdirSync(folder, { mode: 0o700 });
      chownSync(folder, otherUser.uid, otherUser.gid);
    },
  ],
  ["a folder that is open to others", (folder) => void mkdirSync(folder, { mode: 0o777 })],
  ["a link to another place", (folder) => symlinkSync(dirname(folder), folder)],
];

test.each(occupiedPaths)("does not use a socket folder that is %s", async (_, take) => {
  const fleet = await FakeFleet.open();
  onTestFinished(() => fleet.close());
  const temp = tempFolderWith({});
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

function containsSecret(file: string, secrets: readonly string[]): boolean {
  const text = ignoreMissing(() => readFileSync(file, "latin1")) ?? "";
  return secrets.some((one) => text.includes(one));
}

/** The gateway's socket from the environment of a run. */
function findGatewaySocket(processes: readonly number[]): string {
  const sockets = processes.flatMap((pid) => {
    const text = ignoreMissing(() => readFileSync(`/proc/${pid}/environ`, "utf8")) ?? "";
    const environ = text.split("\0");
    const address = environ.find((one) => one.startsWith("ANTHROPIC_UNIX_SOCKET="));
    const isRun = environ.some((one) => one.startsWith("HERDCTL_RUN="));
    return address && isRun ? [address.slice("ANTHROPIC_UNIX_SOCKET=".length)] : [];
  });
  return sockets[0] ?? expect.fail("no run was told where the gateway is");
}
