import { existsSync, mkdirSync, readdirSync, readlinkSync, statSync } from "node:fs";
import { connect, createServer } from "node:net";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { makeHostSocket, removeHostSocket } from "../../packages/core/src/runner/host-socket.ts";
import { folderWith } from "../support/folder.ts";
import { logOf, runJob } from "../support/job.ts";
import { obey } from "../support/runtime.ts";
import { stage } from "../support/stage.ts";

const showSocket =
  // Claude Code keeps the key from its tools; another program of the same user can read it.
  `key=$(tr '\\0' '\\n' </proc/$PPID/environ | sed -n s/^ANTHROPIC_API_KEY=//p); ls -ld "$ANTHROPIC_UNIX_SOCKET" "$(dirname "$ANTHROPIC_UNIX_SOCKET")"; curl -sS -o /dev/null -w "key %{http_code}\\n" --unix-socket "$ANTHROPIC_UNIX_SOCKET" -H "x-api-key: $key" http://localhost/v1/models`;

test.each([
  ["cli", "325"],
  ["cli", "197"],
  ["sdk", "325"],
] as const)(
  "a run on the host (%s %s) reaches the API by a socket of this user, and so do its tools",
  async (runtime, version) => {
    const on = await stage({ mode: "obedient" });
    const prompt = obey(["Bash", { command: showSocket }]);
    const yaml = `runtime: ${runtime}\ncredential: api_key`;
    const env = { ANTHROPIC_API_KEY: "canary-key", HTTP_PROXY: "http://127.0.0.1:9" };
    const { job } = await runJob(on, { yaml, env, version, prompt });
    expect(job).toMatchObject({ status: "completed", credential: "api_key" });
    const said = JSON.stringify(await logOf(job));
    expect(said).toMatch(/srw-------/);
    expect(said).toMatch(/drwx------/);
    expect(said).toContain("key 200");
    expect(readdirSync(dirname(job.output_file))).not.toContain("door");
  },
);

test("a state directory with a long path works, and nothing stays in the temporary folder", async () => {
  const on = await stage({ script: { rules: [{ reply: "Hi." }] } });
  const temp = folderWith({});
  vi.stubEnv("TMPDIR", temp);
  onTestFinished(() => void vi.unstubAllEnvs());
  const stateDir = join(on.home, "long".repeat(30), "state");
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const { job } = await runJob(on, { stateDir, env: { ANTHROPIC_API_KEY: "canary-key" } });
  expect(job).toMatchObject({ status: "completed", summary: "Hi." });
  expect(readdirSync(temp).filter((name) => name.startsWith("herdctl-run-"))).toEqual([]);
});

function longFolder(): string {
  const folder = join(folderWith({}), "long".repeat(30), "job", "door");
  mkdirSync(dirname(folder), { recursive: true });
  return folder;
}

test("the short path of a socket leads into a new folder of this user alone", () => {
  const folder = longFolder();
  const path = makeHostSocket(folder);
  expect(readlinkSync(join(folder, "api.sock"))).toBe(path);
  const { mode, uid } = statSync(dirname(path));
  expect([mode & 0o777, uid]).toEqual([0o700, process.getuid?.()]);
  removeHostSocket(folder);
  expect([existsSync(folder), existsSync(dirname(path))]).toEqual([false, false]);
});

test("a temporary folder in which others can rename entries is not used", () => {
  const temp = folderWith({ "open/file": "" });
  const usual = process.umask(0);
  mkdirSync(join(temp, "world"), { mode: 0o777 });
  process.umask(usual);
  vi.stubEnv("TMPDIR", join(temp, "world"));
  onTestFinished(() => void vi.unstubAllEnvs());
  const folder = longFolder();
  const path = makeHostSocket(folder);
  onTestFinished(() => removeHostSocket(folder));
  expect(path.startsWith(temp)).toBe(false);
});

test("what a killed run left at the path makes way for the next run", async () => {
  const folder = join(folderWith({}), "door");
  const first = createServer().listen(makeHostSocket(folder));
  onTestFinished(() => void first.close());
  const second = createServer((client) => client.end("second"));
  await new Promise<void>((resolve) => second.listen(makeHostSocket(folder), resolve));
  onTestFinished(() => void second.close());
  const said = await new Promise((resolve) => {
    connect(join(folder, "api.sock")).once("data", (text) => resolve(String(text)));
  });
  expect(said).toBe("second");
});
