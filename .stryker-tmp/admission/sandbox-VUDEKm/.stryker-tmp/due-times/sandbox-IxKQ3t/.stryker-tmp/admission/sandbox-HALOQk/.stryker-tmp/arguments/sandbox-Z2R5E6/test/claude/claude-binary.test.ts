import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { claudeVersion, findClaude } from "../../packages/core/src/claude/binary.ts";
import { isOlder, minClaudeVersion, parseVersion } from "../../packages/core/src/claude/version.ts";
import { claudeBinary } from "../support/claude-binaries.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

describe("lookup of the claude binary", () => {
  test("prefers claude_path from the fleet file", () => {
    const [named, onPath] = [writeProgram("exit 0"), writeProgram("exit 0")];
    const found = findClaude({ claudePath: named, env: { PATH: dirname(onPath) } });
    expect(found).toEqual({ kind: "found", path: named, source: "claude_path" });
  });

  test.each([
    ["is missing", () => join(tempFolderWith({}), "claude"), /does not exist/],
    ["is a folder", () => tempFolderWith({}), /is not a file/],
    ["is a broken link", () => createBrokenLink(), /does not exist/],
    [
      "is below a file, not a folder",
      () => join(writeProgram("exit 0"), "claude"),
      /cannot be reached|does not exist/,
    ],
    ["is not executable", () => writeProgram("exit 0", 0o644), /is not executable/],
  ])("falls back to no other binary when claude_path %s", (_what, make, why) => {
    const claudePath = make();
    const found = findClaude({ claudePath, env: { PATH: dirname(writeProgram("exit 0")) } });
    expect(found).toMatchObject({ kind: "problem", code: "runtime_missing" });
    expect(found).toMatchObject({ message: expect.stringMatching(why) });
    expect(found).toMatchObject({ message: expect.stringContaining(claudePath) });
    expect(found).toMatchObject({ hint: expect.stringContaining("claude_path") });
  });

  test("takes the first executable on the PATH", () => {
    const folder = tempFolderWith({});
    mkdirSync(join(folder, "claude"));
    const good = writeProgram("exit 0");
    const path = ["/nowhere", folder, dirname(writeProgram("exit 0", 0o600)), dirname(good)];
    expect(findClaude({ env: { PATH: path.join(":") } })).toMatchObject({
      path: good,
      source: "path",
    });
  });

  test("ignores relative entries of the PATH", () => {
    const before = process.cwd();
    process.chdir(dirname(writeProgram("exit 0")));
    try {
      expect(findClaude({ env: { PATH: "::.:bin" } })).toMatchObject({ source: "sdk" });
    } finally {
      process.chdir(before);
    }
  });

  test("falls back to the binary of the Agent SDK", () => {
    const expected = { kind: "found", path: claudeBinary("325"), source: "sdk" };
    expect(findClaude({ env: {} })).toEqual(expected);
    expect(findClaude({ env: { PATH: "/nowhere" } })).toEqual(expected);
  });
});

describe("version of claude", () => {
  test("returns the correct version of the SDK's binary without running it", async () => {
    const cache = cacheFile();
    const path = claudeBinary("325");
    const known = await claudeVersion(path, cache);
    expect(known).toEqual({ kind: "version", version: "2.1.325" });
    expect(existsSync(cache)).toBe(false);

    const elsewhere = join(tempFolderWith({}), "claude");
    symlinkSync(path, elsewhere);
    expect(await claudeVersion(elsewhere, cache)).toEqual(known);
    expect(existsSync(cache)).toBe(true);
  });

  test("runs the oldest supported binary to get its version", async () => {
    const answer = await claudeVersion(claudeBinary("197"), cacheFile());
    expect(answer).toEqual({ kind: "version", version: minClaudeVersion });
  });

  test("runs a binary once, and again after its file changed", async () => {
    const cache = cacheFile();
    const claude = writeProgram("echo . >> $0.asked; echo '2.2.0 (Claude Code)'");
    const asked = () => readFileSync(`${claude}.asked`, "utf8").trim().split("\n").length;
    for (let time = 0; time < 3; time++) {
      expect(await claudeVersion(claude, cache)).toEqual({ kind: "version", version: "2.2.0" });
    }
    expect(asked()).toBe(1);

    writeFileSync(claude, "#!/bin/sh\necho . >> $0.asked; echo '2.10.1 (Claude Code)'\n");
    expect(await claudeVersion(claude, cache)).toEqual({ kind: "version", version: "2.10.1" });
    expect(asked()).toBe(2);
  });

  test.each(["", "{", "[]", '{"/claude": 3}'])(
    "runs the binary when the cache is %j",
    async (damage) => {
      const cache = cacheFile();
      writeFileSync(cache, damage);
      const claude = writeProgram("echo 2.2.0");
      expect(await claudeVersion(claude, cache)).toEqual({ kind: "version", version: "2.2.0" });
      expect(JSON.parse(readFileSync(cache, "utf8"))).toMatchObject({
        [claude]: { version: "2.2.0" },
      });
    },
  );

  test("returns the version when the cache cannot be written", async () => {
    const answer = await claudeVersion(writeProgram("echo 2.2.0"), "/nowhere/cache.json");
    expect(answer).toEqual({ kind: "version", version: "2.2.0" });
  });

  test("reports a version that is too old until it is updated", async () => {
    const cache = cacheFile();
    const folder = tempFolderWith({ version: "2.1.99 (Claude Code)" });
    const wrapper = writeProgram(`cat ${folder}/version`);
    const old = await claudeVersion(wrapper, cache);
    expect(old).toMatchObject({ kind: "problem", code: "runtime_missing" });
    expect(old).toMatchObject({ message: expect.stringMatching(/2\.1\.99.*2\.1\.197/) });

    writeFileSync(join(folder, "version"), "2.1.300 (Claude Code)");
    expect(await claudeVersion(wrapper, cache)).toEqual({ kind: "version", version: "2.1.300" });
  });

  test.each([
    ["prints something else", "echo Welcome", /did not print its version\./],
    ["prints nothing and fails", "exit 3", /did not print its version and exited with 3/],
    ["hangs with a child process", "sleep 600", /did not print its version within 0\.5 s/],
  ])("reports a problem when the binary %s", async (_what, script, why) => {
    const answer = await claudeVersion(writeProgram(script), cacheFile(), 500);
    expect(answer).toMatchObject({ kind: "problem", message: expect.stringMatching(why) });
  });

  test("reports a problem when the binary cannot be started", async () => {
    const locked = await claudeVersion(writeProgram("echo 2.2.0", 0o644), cacheFile());
    expect(locked).toMatchObject({ message: expect.stringContaining("EACCES") });
    const gone = await claudeVersion("/nowhere/claude", cacheFile());
    expect(gone).toMatchObject({ message: expect.stringContaining("ENOENT") });
  });

  test("runs the binary with PATH as its only environment variable", async () => {
    const file = join(tempFolderWith({}), "environment");
    await claudeVersion(writeProgram(`env > ${file}; echo 2.2.0`), cacheFile());
    const names = readFileSync(file, "utf8")
      .trim()
      .split("\n")
      .map((line) => line.split("=")[0]);
    // Set by the shell, or passed on by Node under coverage.
    const ofOthers = ["PWD", "SHLVL", "_", "OLDPWD", "NODE_V8_COVERAGE"];
    expect(names.filter((name) => !ofOthers.includes(name ?? ""))).toEqual(["PATH"]);
  });

  test.each([
    ["2.1.325 (Claude Code)\n", "2.1.325"],
    ["v3.0.0", "3.0.0"],
    ["2.1.325-beta.1", "2.1.325"],
    ["2.1", undefined],
    ["1.2.3.4", undefined],
    ["claude 2.1.325", undefined],
    ["", undefined],
  ])("parses %j", (output, version) => {
    expect(parseVersion(output)).toBe(version);
  });

  test.each([
    ["2.1.197", "2.1.197", false],
    ["2.1.196", "2.1.197", true],
    ["2.1.1000", "2.1.197", false],
    ["2.0.999", "2.1.197", true],
    ["1.9.999", "2.1.197", true],
    ["10.0.0", "2.1.197", false],
  ])("compares the versions %s and %s as numbers", (version, than, older) => {
    expect(isOlder(version, than)).toBe(older);
  });
});

function writeProgram(script: string, mode = 0o755): string {
  const file = join(tempFolderWith({ claude: `#!/bin/sh\n${script}\n` }), "claude");
  chmodSync(file, mode);
  return file;
}

function createBrokenLink(): string {
  const link = join(tempFolderWith({}), "claude");
  symlinkSync("/nowhere/claude", link);
  return link;
}

function cacheFile(): string {
  return join(tempFolderWith({}), "versions.json");
}
