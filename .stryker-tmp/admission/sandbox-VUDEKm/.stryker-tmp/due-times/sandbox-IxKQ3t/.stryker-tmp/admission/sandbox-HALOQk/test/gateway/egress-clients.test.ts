import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { EgressProxy } from "../../packages/core/src/runner/gateway/egress/egress-proxy.ts";
import { claudeVersions } from "../support/claude-binaries.ts";
import { startHarness } from "../support/harness.ts";
import { allowHost, certificate, startTestEgress, startTlsHost } from "./egress-hosts.ts";
import { startUpstream } from "./upstream-stand-in.ts";

function tempWorkFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "herdctl-egress-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** Runs a program with the usual proxy variables and none of the user's settings. */
function runThroughEgress(
  egress: EgressProxy | undefined,
  cwd: string,
  file: string,
  args: string[],
) {
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

test("reaches only an open host with curl, with and without TLS", async () => {
  const folder = tempWorkFolder();
  const secure = await startTlsHost((_, response) => response.end("over TLS"));
  const plain = await startUpstream((request, response) => {
    request.pipe(response);
  });
  const plainPort = Number(new URL(plain.url).port);
  const egress = await startTestEgress([
    allowHost("registry.test", secure.port),
    allowHost("registry.test", plainPort),
  ]);
  const curl = (...args: string[]) => runThroughEgress(egress, folder, "curl", ["-sS", ...args]);
  expect((await curl(`https://registry.test:${secure.port}/`)).stdout).toBe("over TLS");
  expect((await curl("-d", "sent", `http://registry.test:${plainPort}/`)).stdout).toBe("sent");
  // Plain HTTP in a tunnel could reach any tenant of the server.
  expect((await curl("-p", `http://registry.test:${plainPort}/`)).exitCode).toBe(52);

  const closed = await curl(`https://other.test:${secure.port}/`);
  expect([closed.exitCode, closed.all]).toEqual([56, expect.stringContaining("403")]);
  expect((await curl(`http://other.test:${plainPort}/`)).stdout).toContain(
    `docker.egress: [other.test:${plainPort}]`,
  );
  expect((await curl("-k", "https://127.0.0.1/")).exitCode).toBe(56);
  expect(egress.refusedHosts().map(({ host }) => host)).toEqual([
    "registry.test",
    "other.test",
    "other.test",
    "127.0.0.1",
  ]);
});

test("lists and clones with git from an open host, and is refused another", async () => {
  const folder = tempWorkFolder();
  const host = await startTlsHost(fileServer(join(folder, "served")));
  const egress = await startTestEgress([allowHost("registry.test", host.port)]);
  const git = (...args: string[]) => runThroughEgress(egress, folder, "git", args);
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
  expect(egress.refusedHosts()).toMatchObject([
    { host: "other.test", remedy: `docker.egress: [other.test:${host.port}]` },
  ]);
}, 60_000);

test("installs a package with npm from an open registry", async () => {
  const folder = tempWorkFolder();
  const made = join(folder, "herd-sound");
  mkdirSync(made);
  writeFileSync(join(made, "index.js"), "module.exports = 'moo';");
  const manifest = { name: "herd-sound", version: "1.0.0", main: "index.js" };
  writeFileSync(join(made, "package.json"), JSON.stringify(manifest));
  const packed = await runThroughEgress(undefined, made, "npm", ["pack", "--silent"]);
  const tarball = readFileSync(join(made, packed.stdout.trim()));

  const host = await startTlsHost((request, response) => {
    if (request.url?.endsWith(".tgz")) return response.end(tarball);
    const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
    const dist = { tarball: `https://${request.headers.host}/herd-sound-1.0.0.tgz`, integrity };
    const versions = { "1.0.0": { ...manifest, dist } };
    const body = { name: manifest.name, "dist-tags": { latest: "1.0.0" }, versions };
    return response.setHeader("content-type", "application/json").end(JSON.stringify(body));
  });
  const egress = await startTestEgress([allowHost("registry.test", host.port)]);
  const project = join(folder, "project");
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), "{}");
  const registry = `--registry=https://registry.test:${host.port}/`;
  const args = ["install", "herd-sound", registry, "--no-audit", "--no-fund", "--fetch-retries=0"];
  const installed = await runThroughEgress(egress, project, "npm", args);
  expect(installed.exitCode, installed.all).toBe(0);
  expect(existsSync(join(project, "node_modules/herd-sound/index.js"))).toBe(true);
  expect(egress.refusedHosts()).toEqual([]);
}, 120_000);

test.each(claudeVersions)("reaches an open host with WebFetch of claude %s", async (version) => {
  const host = await startTlsHost((_, response) => response.end("the page itself"));
  const url = `https://registry.test:${host.port}/`;
  const fetching = { name: "WebFetch", input: { url, prompt: "what is it?" } };
  const rule = { match: { prompt: "look" }, replies: [{ tools: [fetching] }, "I have looked."] };
  const set = await startHarness({ script: { rules: [rule] } });
  const egress = await startTestEgress([allowHost("registry.test", host.port)]);
  const env = {
    ...set.env,
    HTTPS_PROXY: egress.url ?? "",
    NO_PROXY: "127.0.0.1",
    NODE_EXTRA_CA_CERTS: certificate,
  };
  // Otherwise it first asks api.anthropic.com whether the host is safe, ignoring the base URL.
  const settings = ["--settings", '{"skipWebFetchPreflight":true}'];
  const args = ["look", "--permission-mode", "bypassPermissions"];
  const looked = await set.claude(version, [...args, ...settings], { env });
  expect(looked.stdout).toContain("the page itself");
  expect(egress.refusedHosts()).toEqual([]);
  await set.claude(version, args, { env });
  expect(egress.refusedHosts()).toMatchObject([{ host: "api.anthropic.com", port: 443 }]);
});

function fileServer(folder: string): RequestListener {
  return (request, response) => {
    const { pathname } = new URL(request.url ?? "/", "https://x/");
    const file = join(folder, pathname);
    if (existsSync(file)) return response.end(readFileSync(file));
    return response.writeHead(404).end();
  };
}
