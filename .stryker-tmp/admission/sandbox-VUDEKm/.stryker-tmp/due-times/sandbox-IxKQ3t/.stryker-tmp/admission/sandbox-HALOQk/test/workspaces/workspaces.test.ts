import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { tmpdir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, describe, expect, onTestFinished, test, vi } from "vitest";
import {
  isSameRepo,
  maskCredentials,
  splitCredentials,
  summarizeGitError,
} from "../../packages/core/src/workspaces/git.ts";
import { prepareWorkspace } from "../../packages/core/src/workspaces/prepare-workspace.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

const neverAborted = new AbortController().signal;

const ownHome = mkdtempSync(join(tmpdir(), "herdctl-home-"));
vi.stubEnv("HOME", ownHome);
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(ownHome, { recursive: true, force: true });
});

describe("existing working directory", () => {
  test("uses an existing directory unchanged", async () => {
    const path = tempFolderWith({});
    expect(await prepareWorkspace({ path }, neverAborted)).toEqual({ kind: "ready", path });
  });

  test("accepts a directory behind a link", async () => {
    const path = join(tempFolderWith({}), "link");
    symlinkSync(tempFolderWith({}), path);
    expect(await prepareWorkspace({ path }, neverAborted)).toEqual({ kind: "ready", path });
  });

  test.each([
    ["is missing", "missing", /does not exist/],
    ["is a file", "file", /is not a folder/],
    ["is below a file", "file/inner", /is not a folder/],
    ["is a link to nothing", "broken", /is a symbolic link to .*nowhere, which does not exist/],
    ["is a link to a file", "to-file", /is not a folder/],
    ["is a link to itself", "circle", /circular symbolic link/],
  ])("refuses a directory that %s", async (_what, name, why) => {
    const folder = tempFolderWith({ file: "" });
    symlinkSync(join(folder, "nowhere"), join(folder, "broken"));
    symlinkSync("file", join(folder, "to-file"));
    symlinkSync("circle", join(folder, "circle"));
    const path = join(folder, name);

    const workspace = await prepareWorkspace({ path }, neverAborted);
    expect(workspace).toMatchObject({ kind: "problem", code: "workspace_missing" });
    expect(workspace).toMatchObject({ message: expect.stringMatching(why) });
    expect(workspace).toMatchObject({ message: expect.stringContaining(path) });
    expect(workspace).toMatchObject({ hint: expect.stringContaining("working_directory") });
  });

  test.each([
    ["be read", 0o711, /cannot be read/],
    ["be entered", 0o744, /cannot be entered/],
    ["be read or entered", 0o700, /cannot be read/],
  ])("refuses a directory that it may not %s", async (_what, mode, why) => {
    const path = mkdtempSync(join(dirname(tmpdir()), "herdctl-locked-"));
    onTestFinished(() => rmSync(path, { recursive: true }));
    chmodSync(path, mode);
    const workspace = await withoutGitIdentity(() => prepareWorkspace({ path }, neverAborted));
    expect(workspace).toMatchObject({ message: expect.stringMatching(why) });
  });
});

describe("clone of an agent", () => {
  test.each([
    ["a path", (repo: string) => repo],
    ["a file:// address", (repo: string) => `file://${repo}`],
  ])("creates a clone from %s when it does not exist", async (_what, spell) => {
    const repo = createRepository();
    const path = emptyFolder();
    const clone = { repo: spell(repo) };

    expect(await prepareWorkspace({ path, clone }, neverAborted)).toEqual({ kind: "ready", path });
    expect(readFileSync(join(path, "README"), "utf8")).toBe("second\n");
    expect(git(path, "status", "--porcelain")).toBe("");
    expect(readdirSync(dirname(path))).toEqual(["coder"]);
  });

  test("clones the branch with as many commits as requested", async () => {
    const path = emptyFolder();
    const clone = { repo: createRepository(), branch: "side", depth: 1 };
    expect(await prepareWorkspace({ path, clone }, neverAborted)).toMatchObject({ kind: "ready" });
    expect(git(path, "branch", "--show-current")).toBe("side");
    expect(git(path, "rev-list", "--count", "HEAD")).toBe("1");
  });

  test("shares no file with the source repository", async () => {
    const path = emptyFolder();
    await prepareWorkspace({ path, clone: { repo: createRepository() } }, neverAborted);
    const objects = join(path, ".git", "objects");
    const files = readdirSync(objects, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => statSync(join(entry.parentPath, entry.name)).nlink);
    expect(files.length).toBeGreaterThan(0);
    expect(new Set(files)).toEqual(new Set([1]));
  });

  test("gives the whole clone to the container user, except the targets of links", async () => {
    const repo = createRepository();
    const outside = tempFolderWith({});
    symlinkSync(outside, join(repo, "link"));
    commit(repo, "third");
    const path = emptyFolder();
    // Only root may change the owner.
    const [uid, gid] = process.getuid?.() === 0 ? [1000, 1001] : [userInfo().uid, userInfo().gid];
    await prepareWorkspace({ path, clone: { repo } }, neverAborted, { uid, gid });
    const all = readdirSync(path, { recursive: true, encoding: "utf8" });
    expect(all.length).toBeGreaterThan(10);
    const owners = [".", ...all].map((name) => lstatSync(join(path, name)));
    expect(owners.filter((one) => one.uid !== uid || one.gid !== gid)).toEqual([]);
    expect(statSync(outside).uid).toBe(userInfo().uid);
  });

  test("keeps a clone as the last run left it", async () => {
    const repo = createRepository();
    const path = emptyFolder();
    await prepareWorkspace({ path, clone: { repo } }, neverAborted);
    writeFileSync(join(path, "README"), "unfinished work\n");
    commit(repo, "third");

    expect(await prepareWorkspace({ path, clone: { repo } }, neverAborted)).toMatchObject({
      kind: "ready",
    });
    expect(readFileSync(join(path, "README"), "utf8")).toBe("unfinished work\n");
    expect(git(path, "rev-list", "--count", "HEAD")).toBe("2");
  });

  test("clones into an empty folder as well", async () => {
    const path = emptyFolder();
    mkdirSync(path, { recursive: true });
    const workspace = await prepareWorkspace(
      { path, clone: { repo: createRepository() } },
      neverAborted,
    );
    expect(workspace).toEqual({ kind: "ready", path });
    expect(existsSync(join(path, "README"))).toBe(true);
  });

  test("does not replace a clone of another repository", async () => {
    const [path, other] = [emptyFolder(), createRepository()];
    await prepareWorkspace({ path, clone: { repo: other } }, neverAborted);
    const workspace = await prepareWorkspace(
      { path, clone: { repo: createRepository() } },
      neverAborted,
    );
    expect(workspace).toMatchObject({ code: "workspace_missing" });
    expect(workspace).toMatchObject({ message: expect.stringContaining(other) });
  });

  test("does not replace another folder", async () => {
    const path = tempFolderWith({ thesis: "years of work" });
    const workspace = await prepareWorkspace(
      { path, clone: { repo: createRepository() } },
      neverAborted,
    );
    expect(workspace).toMatchObject({
      message: expect.stringContaining("not empty and not a clone"),
    });
    expect(readFileSync(join(path, "thesis"), "utf8")).toBe("years of work");
  });

  test("completes the clone for each of many concurrent runs", async () => {
    const path = emptyFolder();
    const clone = { repo: createRepository() };
    const runs = Array.from({ length: 6 }, () => prepareWorkspace({ path, clone }, neverAborted));
    expect(await Promise.all(runs)).toEqual(runs.map(() => ({ kind: "ready", path })));
    expect(git(path, "status", "--porcelain")).toBe("");
    expect(readdirSync(dirname(path))).toEqual(["coder"]);
  });

  test("waits while another run creates the clone", async () => {
    const server = await startSilentGitServer();
    const path = emptyFolder();
    const first = new AbortController();
    const making = prepareWorkspace({ path, clone: { repo: server.url } }, first.signal);
    await server.asked;
    const waiting = prepareWorkspace({ path, clone: { repo: createRepository() } }, neverAborted);
    expect(await Promise.race([waiting, delay(500, "still waiting")])).toBe("still waiting");

    first.abort();
    await expect(making).rejects.toThrow(/abort/i);
    expect(await waiting).toEqual({ kind: "ready", path });
    expect(readdirSync(dirname(path))).toEqual(["coder"]);
  });

  test("leaves no incomplete clone after a kill, and the next run cleans up", async () => {
    const server = await startSilentGitServer();
    const path = emptyFolder();
    expect(await killWhileCloning(path, server)).toBe("SIGKILL");
    expect(readdirSync(dirname(path))).toEqual([expect.stringMatching(/^\.coder\.clone\.\d/)]);
    mkdirSync(join(dirname(path), ".coder.clone.of-a-person"));

    const workspace = await prepareWorkspace(
      { path, clone: { repo: createRepository() } },
      neverAborted,
    );
    expect(workspace).toEqual({ kind: "ready", path });
    expect(readdirSync(dirname(path)).sort()).toEqual([".coder.clone.of-a-person", "coder"]);
  });
});

describe("failed clone", () => {
  test.each([
    ["the repository does not exist", { repo: "/nowhere/at/all" }, /does not exist/, /`repo`/],
    ["the address does not answer", { repo: "http://127.0.0.1:1/r" }, /unable to access/, /`repo`/],
    ["access is denied", { repo: "ext::sh -c true" }, /not allowed/, /`repo`/],
    ["it looks like an option", { repo: "--upload-pack=touch x" }, /could not be cloned/, /`repo`/],
  ])("reports that %s", async (_what, clone, why, hint) => {
    const path = emptyFolder();
    const workspace = await prepareWorkspace({ path, clone }, neverAborted);
    expect(workspace).toMatchObject({ kind: "problem", code: "workspace_missing" });
    expect(workspace).toMatchObject({ message: expect.stringMatching(why) });
    expect(workspace).toMatchObject({ hint: expect.stringMatching(hint) });
    expect(readdirSync(dirname(path))).toEqual([]);
  });

  test("reports a missing branch", async () => {
    const clone = { repo: createRepository(), branch: "gone" };
    expect(await prepareWorkspace({ path: emptyFolder(), clone }, neverAborted)).toMatchObject({
      message: expect.stringContaining("Remote branch gone not found"),
      hint: expect.stringContaining("`branch`"),
    });
  });

  test("reports a missing git", async () => {
    await withEnvironment({ PATH: tempFolderWith({}) }, async () => {
      const workspace = prepareWorkspace(
        { path: emptyFolder(), clone: { repo: "/nowhere" } },
        neverAborted,
      );
      expect(await workspace).toMatchObject({ message: "git is not installed." });
    });
  });

  test("reports a root that is not a folder", async () => {
    const path = join(tempFolderWith({ root: "" }), "root", "coder");
    const workspace = await prepareWorkspace(
      { path, clone: { repo: createRepository() } },
      neverAborted,
    );
    expect(workspace).toMatchObject({ kind: "problem", code: "workspace_missing" });
  });

  test("asks for no password and shows none", async () => {
    const server = await startHttpServer((_request, response) => {
      response.writeHead(401, { "www-authenticate": 'Basic realm="x"' }).end();
    });
    const secret = "s3cret-token";
    const repo = server.url.replace("//", `//robot:${secret}@`);
    const asking = { GIT_ASKPASS: "/nowhere/ask", SSH_ASKPASS: "/nowhere/ask" };
    const workspace = await withEnvironment(asking, () =>
      prepareWorkspace({ path: emptyFolder(), clone: { repo } }, neverAborted),
    );
    expect(workspace).toMatchObject({
      message: expect.stringContaining("***@127.0.0.1"),
      hint: expect.stringContaining("non-interactive access"),
    });
    expect(JSON.stringify(workspace)).not.toContain(secret);
  });
});

describe("git commands", () => {
  test("passes a token in a header, never in arguments", async () => {
    const server = await startSilentGitServer();
    const stop = new AbortController();
    const repo = server.url.replace("//", "//robot:pass%20word@");
    const cloning = prepareWorkspace({ path: emptyFolder(), clone: { repo } }, stop.signal);
    const { headers } = await server.asked;
    const { host } = new URL(server.url);
    const clones = commandLines()
      .split("\n")
      .filter((line) => line.includes(host));
    stop.abort();
    await expect(cloning).rejects.toThrow(/abort/i);

    const [, pair = ""] = headers.authorization?.split(" ") ?? [];
    expect(Buffer.from(pair, "base64").toString()).toBe("robot:pass word");
    expect(clones.length).toBeGreaterThan(0);
    expect(clones.filter((line) => /pass.{1,3}word@/.test(line))).toEqual([]);
  });

  test("ignores the git variables of the environment", async () => {
    const path = emptyFolder();
    const clone = { repo: createRepository() };
    const around = { GIT_DIR: "/nowhere", GIT_WORK_TREE: "/nowhere", GIT_INDEX_FILE: "/nowhere/i" };
    const workspace = await withEnvironment(around, () =>
      prepareWorkspace({ path, clone }, neverAborted),
    );
    expect(workspace).toEqual({ kind: "ready", path });
  });

  test("shortens git's error to the message without secrets", () => {
    const stderr = "Cloning into 'x'...\nwarning: y\nfatal: no https://u:p@h/r\n\nhint: z\n";
    expect(summarizeGitError(stderr)).toBe("fatal: no https://***@h/r");
    expect(summarizeGitError("")).toBe("");
  });

  test.each([
    ["https://h/o/r", "https://h/o/r.git", true],
    ["https://u:p@h/o/r", "https://h/o/r/", true],
    ["git@h:o/r.git", "https://h/o/r", true],
    ["ssh://git@h/o/r", "git@h:o/r", true],
    ["/a/b", "file:///a/b", true],
    ["/a/b.git/", "/a/b", true],
    ["../b", "/root/b", true],
    ["https://h/o/r", "https://h/o/r2", false],
    ["https://h/o/r", "https://h2/o/r", false],
    ["https://h:8080/o/r", "https://h/o/r", false],
  ])("compares %s and %s as one repository: %s", (one, other, same) => {
    expect(isSameRepo(one, other, "/root/workspaces")).toBe(same);
  });

  test.each([
    ["https://user:secret@h/r", "https://***@h/r"],
    ["https://secret@h/r and http://a:b@c/", "https://***@h/r and http://***@c/"],
    ["https://u:p@ss@h/r", "https://***@h/r"],
    ["https://h/r?at=a@b", "https://h/r?at=a@b"],
    ["git@h:r", "git@h:r"],
  ])("masks credentials in %s", (text, masked) => {
    expect(maskCredentials(text)).toBe(masked);
  });

  test.each([
    ["https://h/r", "https://h/r", undefined],
    ["git@h:r", "git@h:r", undefined],
    ["ssh://git@h/r", "ssh://git@h/r", undefined],
    ["https://u:p@h/r", "https://h/r", "u:p"],
    ["https://token@h:8443/r", "https://h:8443/r", "token:"],
    ["https://u:100%@h/r", "https://h/r", "u:100%"],
  ])("splits %s into the address %s and credentials", (repo, url, pair) => {
    const access = splitCredentials(repo);
    expect(access.url).toBe(url);
    const encoded = access.header?.value.split(" ").at(-1) ?? "";
    expect(Buffer.from(encoded, "base64").toString() || undefined).toBe(pair);
  });
});

/** A repository with two commits and a branch `side`. */
function createRepository(): string {
  const path = tempFolderWith({});
  git(path, "init", "--quiet", "--initial-branch=main");
  commit(path, "first");
  commit(path, "second");
  git(path, "branch", "side");
  return path;
}

function commit(repo: string, text: string): void {
  writeFileSync(join(repo, "README"), `${text}\n`);
  git(repo, "add", ".");
  const author = ["-c", "user.name=Test", "-c", "user.email=test@example.com"];
  git(repo, ...author, "commit", "--quiet", "--message", text);
}

function git(cwd: string, ...args: string[]): string {
  return execFileSync("git", args, { cwd, encoding: "utf8" }).trim();
}

function emptyFolder(): string {
  return join(tempFolderWith({}), "workspaces", "coder");
}

async function withEnvironment<T>(extra: Record<string, string>, act: () => Promise<T>) {
  for (const [name, value] of Object.entries(extra)) vi.stubEnv(name, value);
  try {
    return await act();
  } finally {
    vi.unstubAllEnvs();
    vi.stubEnv("HOME", ownHome);
  }
}

/** Runs as another user when root, since root may enter every folder. */
async function withoutGitIdentity<T>(act: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return await act();
  process.seteuid?.(65534);
  try {
    return await act();
  } finally {
    process.seteuid?.(0);
  }
}

async function startHttpServer(answer: Parameters<typeof createServer>[1] & object) {
  const server: Server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  return { server, url: `http://127.0.0.1:${port}/repo` };
}

/** Accepts the request and never answers. */
async function startSilentGitServer() {
  const { server, url } = await startHttpServer(() => undefined);
  const asked = new Promise<IncomingMessage>((resolve) => server.once("request", resolve));
  return { url, asked };
}

async function killWhileCloning(
  path: string,
  server: Awaited<ReturnType<typeof startSilentGitServer>>,
): Promise<NodeJS.Signals | null> {
  const at = (file: string) => new URL(file, import.meta.url).href;
  const source = at("../../packages/core/src/workspaces/prepare-workspace.ts");
  const script = `import { prepareWorkspace } from ${JSON.stringify(source)};
    const clone = { repo: ${JSON.stringify(server.url)} };
    await prepareWorkspace({ path: ${JSON.stringify(path)}, clone }, new AbortController().signal);`;
  const node = ["--import", at("../store/programs/typescript-loader.mjs"), "--input-type=module"];
  const child = spawn(process.execPath, [...node, "--eval", script], { stdio: "ignore" });
  const ended = once(child, "exit");
  await server.asked;
  child.kill("SIGKILL");
  const [, signal] = await ended;
  return signal;
}

function commandLines(): string {
  return execFileSync("ps", ["-Ao", "args"], { encoding: "utf8" });
}
