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
import { claudeVersion, findClaude } from "../../packages/core/src/runner/claude-binary.ts";
import {
  isOlder,
  oldestClaude,
  parseVersion,
} from "../../packages/core/src/runner/claude-version.ts";
import { claudeBinary } from "../support/claude.ts";
import { folderWith } from "../support/folder.ts";

describe("which claude runs", () => {
  test("is the one that the fleet file names, before any other", () => {
    const [named, onPath] = [program("exit 0"), program("exit 0")];
    const found = findClaude({ claudePath: named, env: { PATH: dirname(onPath) } });
    expect(found).toEqual({ kind: "found", path: named, source: "claude_path" });
  });

  test.each([
    ["is missing", () => join(folderWith({}), "claude"), /does not exist/],
    ["is a folder", () => folderWith({}), /is not a file/],
    ["is a broken link", () => brokenLink(), /does not exist/],
    ["lies below a file", () => join(program("exit 0"), "claude"), /cannot be reached/],
    ["may not be executed", () => program("exit 0", 0o644), /may not be executed/],
  ])("is no other when the named one %s", (_what, make, why) => {
    const claudePath = make();
    const found = findClaude({ claudePath, env: { PATH: dirname(program("exit 0")) } });
    expect(found).toMatchObject({ kind: "problem", code: "runtime_missing" });
    expect(found).toMatchObject({ message: expect.stringMatching(why) });
    expect(found).toMatchObject({ message: expect.stringContaining(claudePath) });
    expect(found).toMatchObject({ hint: expect.stringContaining("claude_path") });
  });

  test("is the first on the PATH that can be run", () => {
    const folder = folderWith({});
    mkdirSync(join(folder, "claude"));
    const good = program("exit 0");
    const path = ["/nowhere", folder, dirname(program("exit 0", 0o600)), dirname(good)];
    expect(findClaude({ env: { PATH: path.join(":") } })).toMatchObject({
      path: good,
      source: "path",
    });
  });

  test("is never found through a relative entry of the PATH", () => {
    const before = process.cwd();
    process.chdir(dirname(program("exit 0")));
    try {
      expect(findClaude({ env: { PATH: "::.:bin" } })).toMatchObject({ source: "sdk" });
    } finally {
      process.chdir(before);
    }
  });

  test("is the one of the SDK when there is no other", () => {
    const expected = { kind: "found", path: claudeBinary("325"), source: "sdk" };
    expect(findClaude({ env: {} })).toEqual(expected);
    expect(findClaude({ env: { PATH: "/nowhere" } })).toEqual(expected);
  });
});

describe("the version of claude", () => {
  test("of the SDK's own is known without running it, and true", async () => {
    const cache = cacheFile();
    const path = claudeBinary("325");
    const known = await claudeVersion(path, cache);
    expect(known).toEqual({ kind: "version", version: "2.1.325" });
    expect(existsSync(cache)).toBe(false);

    const elsewhere = join(folderWith({}), "claude");
    symlinkSync(path, elsewhere);
    expect(await claudeVersion(elsewhere, cache)).toEqual(known);
    expect(existsSync(cache)).toBe(true);
  });

  test("of the oldest that we support is asked for", async () => {
    const answer = await claudeVersion(claudeBinary("197"), cacheFile());
    expect(answer).toEqual({ kind: "version", version: oldestClaude });
  });

  test("is asked once, and again when the file is another one", async () => {
    const cache = cacheFile();
    const claude = program("echo . >> $0.asked; echo '2.2.0 (Claude Code)'");
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
    "is asked though the cache is %j",
    async (damage) => {
      const cache = cacheFile();
      writeFileSync(cache, damage);
      const claude = program("echo 2.2.0");
      expect(await claudeVersion(claude, cache)).toEqual({ kind: "version", version: "2.2.0" });
      expect(JSON.parse(readFileSync(cache, "utf8"))).toMatchObject({
        [claude]: { version: "2.2.0" },
      });
    },
  );

  test("is told though there is no place for the cache", async () => {
    const answer = await claudeVersion(program("echo 2.2.0"), "/nowhere/cache.json");
    expect(answer).toEqual({ kind: "version", version: "2.2.0" });
  });

  test("is a problem when it is too old, until that is mended", async () => {
    const cache = cacheFile();
    const folder = folderWith({ version: "2.1.99 (Claude Code)" });
    const wrapper = program(`cat ${folder}/version`);
    const old = await claudeVersion(wrapper, cache);
    expect(old).toMatchObject({ kind: "problem", code: "runtime_missing" });
    expect(old).toMatchObject({ message: expect.stringMatching(/2\.1\.99.*2\.1\.197/) });

    writeFileSync(join(folder, "version"), "2.1.300 (Claude Code)");
    expect(await claudeVersion(wrapper, cache)).toEqual({ kind: "version", version: "2.1.300" });
  });

  test.each([
    ["prints something else", "echo Welcome", /did not say its version\./],
    ["prints nothing and fails", "exit 3", /did not say its version and exited with 3/],
    ["hangs, with a child of its own", "sleep 600", /did not say its version in 0\.5 s/],
  ])("is a problem when it %s", async (_what, script, why) => {
    const answer = await claudeVersion(program(script), cacheFile(), 500);
    expect(answer).toMatchObject({ kind: "problem", message: expect.stringMatching(why) });
  });

  test("is a problem when it cannot be started", async () => {
    const locked = await claudeVersion(program("echo 2.2.0", 0o644), cacheFile());
    expect(locked).toMatchObject({ message: expect.stringContaining("EACCES") });
    const gone = await claudeVersion("/nowhere/claude", cacheFile());
    expect(gone).toMatchObject({ message: expect.stringContaining("ENOENT") });
  });

  test("is asked with nothing of our environment but the PATH", async () => {
    const file = join(folderWith({}), "environment");
    await claudeVersion(program(`env > ${file}; echo 2.2.0`), cacheFile());
    const names = readFileSync(file, "utf8")
      .trim()
      .split("\n")
      .map((line) => line.split("=")[0]);
    // The shell's own, and what Node hands on by itself where coverage is counted.
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
  ])("is read from %j", (output, version) => {
    expect(parseVersion(output)).toBe(version);
  });

  test.each([
    ["2.1.197", "2.1.197", false],
    ["2.1.196", "2.1.197", true],
    ["2.1.1000", "2.1.197", false],
    ["2.0.999", "2.1.197", true],
    ["1.9.999", "2.1.197", true],
    ["10.0.0", "2.1.197", false],
  ])("compares %s with %s by numbers", (version, than, older) => {
    expect(isOlder(version, than)).toBe(older);
  });
});

function program(script: string, mode = 0o755): string {
  const file = join(folderWith({ claude: `#!/bin/sh\n${script}\n` }), "claude");
  chmodSync(file, mode);
  return file;
}

function brokenLink(): string {
  const link = join(folderWith({}), "claude");
  symlinkSync("/nowhere/claude", link);
  return link;
}

function cacheFile(): string {
  return join(folderWith({}), "versions.json");
}
