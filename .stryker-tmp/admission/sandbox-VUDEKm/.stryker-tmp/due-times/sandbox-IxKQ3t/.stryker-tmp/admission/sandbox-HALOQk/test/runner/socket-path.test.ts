import { existsSync, mkdirSync, readdirSync, readlinkSync, statSync } from "node:fs";
import { connect, createServer } from "node:net";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { makeHostSocket, removeHostSocket } from "../../packages/core/src/runner/contract/paths.ts";
import { startHarness } from "../support/harness.ts";
import { readJobMessages, runJob } from "../support/run-job.ts";
import { toolCallPrompt } from "../support/runtimes-under-test.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

const showSocketCommand =
  // Claude Code hides the key from its tools, but another process of the same user can read it.
  `key=$(tr '\\0' '\\n' </proc/$PPID/environ | sed -n s/^ANTHROPIC_API_KEY=//p); ls -ld "$ANTHROPIC_UNIX_SOCKET" "$(dirname "$ANTHROPIC_UNIX_SOCKET")"; curl -sS -o /dev/null -w "key %{http_code}\\n" --unix-socket "$ANTHROPIC_UNIX_SOCKET" -H "x-api-key: $key" http://localhost/v1/models`;

test.each([
  ["cli", "325"],
  ["cli", "197"],
  ["sdk", "325"],
] as const)(
  "reaches the API through a socket of this user on the host (%s %s), also from tools",
  async (runtime, version) => {
    const harness = await startHarness({ mode: "obedient" });
    const prompt = toolCallPrompt(["Bash", { command: showSocketCommand }]);
    const yaml = `runtime: ${runtime}\ncredential: api_key`;
    const env = { ANTHROPIC_API_KEY: "canary-key", HTTP_PROXY: "http://127.0.0.1:9" };
    const { job } = await runJob(harness, { yaml, env, version, prompt });
    expect(job).toMatchObject({ status: "completed", credential: "api_key" });
    const response = JSON.stringify(await readJobMessages(job));
    expect(response).toMatch(/srw-------/);
    expect(response).toMatch(/drwx------/);
    expect(response).toContain("key 200");
    expect(readdirSync(dirname(job.output_file))).not.toContain("proxy");
  },
);

test("works in a state directory with a long path and leaves nothing in the temporary folder", async () => {
  const harness = await startHarness({ script: { rules: [{ reply: "Hi." }] } });
  const temp = tempFolderWith({});
  vi.stubEnv("TMPDIR", temp);
  onTestFinished(() => void vi.unstubAllEnvs());
  const stateDir = join(harness.home, "long".repeat(30), "state");
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const { job } = await runJob(harness, { stateDir, env: { ANTHROPIC_API_KEY: "canary-key" } });
  expect(job).toMatchObject({ status: "completed", summary: "Hi." });
  expect(readdirSync(temp).filter((name) => name.startsWith("herdctl-run-"))).toEqual([]);
});

function createLongFolder(): string {
  const folder = join(tempFolderWith({}), "long".repeat(30), "job", "proxy");
  mkdirSync(dirname(folder), { recursive: true });
  return folder;
}

test("creates the short path of a socket in a new private folder", () => {
  const folder = createLongFolder();
  const path = makeHostSocket(folder);
  expect(readlinkSync(join(folder, "api.sock"))).toBe(path);
  const { mode, uid } = statSync(dirname(path));
  expect([mode & 0o777, uid]).toEqual([0o700, process.getuid?.()]);
  removeHostSocket(folder);
  expect([existsSync(folder), existsSync(dirname(path))]).toEqual([false, false]);
});

test("refuses a temporary folder in which others can rename entries", () => {
  const temp = tempFolderWith({ "open/file": "" });
  const usual = process.umask(0);
  mkdirSync(join(temp, "world"), { mode: 0o777 });
  process.umask(usual);
  vi.stubEnv("TMPDIR", join(temp, "world"));
  onTestFinished(() => void vi.unstubAllEnvs());
  const folder = createLongFolder();
  const path = makeHostSocket(folder);
  onTestFinished(() => removeHostSocket(folder));
  expect(path.startsWith(temp)).toBe(false);
});

test("replaces the leftovers of a killed run at the path", async () => {
  const folder = join(tempFolderWith({}), "proxy");
  const first = createServer().listen(makeHostSocket(folder));
  onTestFinished(() => void first.close());
  const second = createServer((client) => client.end("second"));
  await new Promise<void>((resolve) => second.listen(makeHostSocket(folder), resolve));
  onTestFinished(() => void second.close());
  const response = await new Promise((resolve) => {
    connect(join(folder, "api.sock")).once("data", (text) => resolve(String(text)));
  });
  expect(response).toBe("second");
});
