import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Egress } from "../../packages/core/src/gateway/egress/egress.ts";
import { claudeVersions } from "../support/claude.ts";
import { stage } from "../support/stage.ts";
import { certificate, egressTo, named, tlsHost } from "./hosts.ts";
import { standIn } from "./upstream.ts";

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), "herdctl-egress-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** Runs a program that knows the door by the usual variables and nothing of this machine's user. */
function run(egress: Egress | undefined, cwd: string, file: string, args: string[]) {
  const proxy = egress?.url ?? "";
  const env = {
    PATH: process.env.PATH,
    HOME: cwd,
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    http_proxy: proxy,
    https_proxy: proxy,
    CURL_CA_BUNDLE: certificate,
    GIT_SSL_CAINFO: certificate,
    npm_config_cafile: certificate,
    npm_config_globalconfig: "/dev/null",
    GIT_TERMINAL_PROMPT: "0",
  };
  return new Promise<{ exitCode: unknown; stdout: string; all: string }>((resolve) => {
    execFile(file, args, { cwd, env }, (error, stdout, stderr) => {
      resolve({ exitCode: error?.code ?? 0, stdout, all: stdout + stderr });
    });
  });
}

test("curl reaches an open host with and without TLS, and no other", async () => {
  const folder = scratch();
  const secure = await tlsHost((_, response) => response.end("over TLS"));
  const plain = await standIn((request, response) => {
    request.pipe(response);
  });
  const plainPort = Number(new URL(plain.url).port);
  const egress = await egressTo([
    named("registry.test", secure.port),
    named("registry.test", plainPort),
  ]);
  const curl = (...args: string[]) => run(egress, folder, "curl", ["-sS", ...args]);
  expect((await curl(`https://registry.test:${secure.port}/`)).stdout).toBe("over TLS");
  expect((await curl("-d", "sent", `http://registry.test:${plainPort}/`)).stdout).toBe("sent");
  // Plain HTTP in a tunnel could be for any tenant of the server.
  expect((await curl("-p", `http://registry.test:${plainPort}/`)).exitCode).toBe(52);

  const closed = await curl(`https://other.test:${secure.port}/`);
  expect([closed.exitCode, closed.all]).toEqual([56, expect.stringContaining("403")]);
  expect((await curl(`http://other.test:${plainPort}/`)).stdout).toContain(
    `docker.egress: [other.test:${plainPort}]`,
  );
  expect((await curl("-k", "https://127.0.0.1/")).exitCode).toBe(56);
  expect(egress.refused().map(({ host }) => host)).toEqual([
    "registry.test",
    "other.test",
    "other.test",
    "127.0.0.1",
  ]);
});

test("git lists and clones from an open host, and is refused another", async () => {
  const folder = scratch();
  const host = await tlsHost(files(join(folder, "served")));
  const egress = await egressTo([named("registry.test", host.port)]);
  const git = (...args: string[]) => run(egress, folder, "git", args);
  await git("init", "-q", "-b", "main", "made");
  writeFileSync(join(folder, "made", "file.txt"), "content");
  const who = ["-c", "user.name=a", "-c", "user.email=a@b.test"];
  await git("-C", "made", "add", ".");
  await git("-C", "made", ...who, "commit", "-qm", "first");
  mkdirSync(join(folder, "served"));
  await git("clone", "-q", "--bare", "made", "served/repo.git");
  await git("-C", "served/repo.git", "update-server-info");

  const url = `https://registry.test:${host.port}/repo.git`;
  expect((await git("ls-remote", url)).stdout).toMatch(/^[0-9a-f]{40}\s+HEAD/);
  expect((await git("clone", "-q", url, "cloned")).exitCode).toBe(0);
  expect(readFileSync(join(folder, "cloned", "file.txt"), "utf8")).toBe("content");
  expect(egress.meter().byHost[`registry.test:${host.port}`]?.bytesDown).toBeGreaterThan(1000);

  const closed = await git("ls-remote", url.replace("registry", "other"));
  expect([closed.exitCode, closed.all]).toEqual([128, expect.stringContaining("403")]);
  expect(egress.refused()).toMatchObject([
    { host: "other.test", remedy: `docker.egress: [other.test:${host.port}]` },
  ]);
}, 60_000);

test("npm installs a package from an open registry", async () => {
  const folder = scratch();
  const made = join(folder, "herd-sound");
  mkdirSync(made);
  writeFileSync(join(made, "index.js"), "module.exports = 'moo';");
  const manifest = { name: "herd-sound", version: "1.0.0", main: "index.js" };
  writeFileSync(join(made, "package.json"), JSON.stringify(manifest));
  const packed = await run(undefined, made, "npm", ["pack", "--silent"]);
  const tarball = readFileSync(join(made, packed.stdout.trim()));

  const host = await tlsHost((request, response) => {
    if (request.url?.endsWith(".tgz")) return response.end(tarball);
    const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
    const dist = { tarball: `https://${request.headers.host}/herd-sound-1.0.0.tgz`, integrity };
    const versions = { "1.0.0": { ...manifest, dist } };
    const body = { name: manifest.name, "dist-tags": { latest: "1.0.0" }, versions };
    return response.setHeader("content-type", "application/json").end(JSON.stringify(body));
  });
  const egress = await egressTo([named("registry.test", host.port)]);
  const project = join(folder, "project");
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), "{}");
  const registry = `--registry=https://registry.test:${host.port}/`;
  const args = ["install", "herd-sound", registry, "--no-audit", "--no-fund", "--fetch-retries=0"];
  const installed = await run(egress, project, "npm", args);
  expect(installed.exitCode, installed.all).toBe(0);
  expect(existsSync(join(project, "node_modules/herd-sound/index.js"))).toBe(true);
  expect(egress.refused()).toEqual([]);
}, 120_000);

test.each(claudeVersions)("WebFetch of claude %s reaches an open host", async (version) => {
  const host = await tlsHost((_, response) => response.end("the page itself"));
  const url = `https://registry.test:${host.port}/`;
  const fetching = { name: "WebFetch", input: { url, prompt: "what is it?" } };
  const rule = { match: { prompt: "look" }, replies: [{ tools: [fetching] }, "I have looked."] };
  const set = await stage({ script: { rules: [rule] } });
  const egress = await egressTo([named("registry.test", host.port)]);
  const env = {
    ...set.env,
    HTTPS_PROXY: egress.url ?? "",
    NO_PROXY: "127.0.0.1",
    NODE_EXTRA_CA_CERTS: certificate,
  };
  // Else it asks api.anthropic.com first whether the host is safe, and past any base URL.
  const settings = ["--settings", '{"skipWebFetchPreflight":true}'];
  const args = ["look", "--permission-mode", "bypassPermissions"];
  const looked = await set.claude(version, [...args, ...settings], { env });
  expect(looked.stdout).toContain("the page itself");
  expect(egress.refused()).toEqual([]);
  await set.claude(version, args, { env });
  expect(egress.refused()).toMatchObject([{ host: "api.anthropic.com", port: 443 }]);
});

function files(folder: string): RequestListener {
  return (request, response) => {
    const { pathname } = new URL(request.url ?? "/", "https://x/");
    const file = join(folder, pathname);
    if (existsSync(file)) return response.end(readFileSync(file));
    return response.writeHead(404).end();
  };
}
