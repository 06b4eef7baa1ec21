import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";
import { certificate, startTlsHost } from "../gateway/egress-hosts.ts";
import { sharedEngine } from "../support/docker-engine.ts";
import {
  chownToContainerUser,
  runJobInContainer,
  startDockerHarness,
} from "../support/docker-harness.ts";
import type { TestHarness } from "../support/harness.ts";
import { readJobMessages } from "../support/run-job.ts";
import { toolCallPrompt, toolResultTexts } from "../support/runtimes-under-test.ts";

const engine = await sharedEngine();

test("serves git and a package install from an open host, and refuses another with a recorded hint", async () => {
  const harness = await startDockerHarness(engine, { mode: "obedient" });
  const host = await startTlsHost(await packagesAndRepository(harness));
  const url = (name: string) => `https://${name}:${host.port}`;
  writeFileSync(join(harness.workspace, "package.json"), "{}");
  chownToContainerUser(harness.workspace);
  const { job } = await runJobInContainer(harness, {
    yaml: `
env: { GIT_SSL_CAINFO: /cert.pem, NODE_EXTRA_CA_CERTS: /cert.pem, CURL_CA_BUNDLE: /cert.pem }
docker:
  enabled: true
  egress: [{ host: "registry.test:${host.port}", address: 127.0.0.1 }]
  volumes: ["${certificate}:/cert.pem", "${process.execPath}:/opt/node", "${npm}:/opt/npm"]`,
    prompt: toolCallPrompt(
      ["Bash", { command: `git ls-remote ${url("registry.test")}/repo.git` }],
      [
        "Bash",
        {
          command: `/opt/node /opt/npm/bin/npm-cli.js install herd-sound --registry=${url("registry.test")}/ --no-audit --no-fund`,
        },
      ],
      ["Bash", { command: `git ls-remote ${url("other.test")}/repo.git` }],
      ["Bash", { command: "curl -sS --noproxy '*' --max-time 5 http://192.0.2.1/" }],
    ),
  });
  const [listed, installed, refused, direct] = toolResultTexts(await readJobMessages(job));
  expect(listed).toMatch(/[0-9a-f]{40}\\tHEAD/);
  expect(installed).toContain("added 1 package");
  expect(existsSync(join(harness.workspace, "node_modules/herd-sound/index.js"))).toBe(true);
  expect(refused).toContain("403");
  expect(direct).toMatch(/Couldn't connect|Network is unreachable|Immediate connect fail/);
  expect(job.warnings.join("\n")).toContain(
    `to allow it: docker.egress: [other.test:${host.port}]`,
  );
});

test("reaches no host by name or by address without egress", async () => {
  const harness = await startDockerHarness(engine, { mode: "obedient" });
  const host = await startTlsHost((_, response) => response.end("reached"));
  const { job } = await runJobInContainer(harness, {
    prompt: toolCallPrompt(
      ["Bash", { command: `curl -sSk --max-time 5 https://127.0.0.1:${host.port}/` }],
      ["Bash", { command: `curl -sSk --max-time 5 https://${engine.hostAddress}:${host.port}/` }],
      ["Bash", { command: "curl -sS --max-time 5 http://example.com/; ls /sys/class/net" }],
    ),
  });
  const results = toolResultTexts(await readJobMessages(job)).join("\n");
  expect(results).not.toContain("reached");
  expect(results).toMatch(/Could not resolve/);
  expect(host.seen).toEqual([]);
});

const npmCli = execFileSync("sh", ["-c", "command -v npm"], { encoding: "utf8" }).trim();
/** The package folder: `npm root -g` depends on the running Node, which may have no npm. */
const npm = join(realpathSync(npmCli), "../..");

/** A registry with one package, and a git repository. */
async function packagesAndRepository(harness: TestHarness): Promise<RequestListener> {
  const served = join(harness.home, "served");
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.test", ...args], {
      cwd: harness.home,
      env: harness.env,
      stdio: "ignore",
    });
  mkdirSync(served);
  git("init", "-q", "-b", "main", "made");
  git("-C", "made", "commit", "-q", "--allow-empty", "-m", "first");
  git("clone", "-q", "--bare", "made", "served/repo.git");
  git("-C", "served/repo.git", "update-server-info");

  const made = join(harness.home, "herd-sound");
  mkdirSync(made);
  const manifest = { name: "herd-sound", version: "1.0.0", main: "index.js" };
  writeFileSync(join(made, "index.js"), "module.exports = 'moo';");
  writeFileSync(join(made, "package.json"), JSON.stringify(manifest));
  const packed = execFileSync("npm", ["pack", "--silent"], { cwd: made, env: harness.env });
  const tarball = readFileSync(join(made, packed.toString().trim()));
  const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;

  return (request, response) => {
    const { pathname } = new URL(request.url ?? "/", "https://x/");
    const file = join(served, pathname);
    if (pathname.endsWith(".tgz")) return response.end(tarball);
    if (pathname.startsWith("/repo.git")) {
      return existsSync(file) ? response.end(readFileSync(file)) : response.writeHead(404).end();
    }
    const dist = { tarball: `https://${request.headers.host}/herd-sound-1.0.0.tgz`, integrity };
    const versions = { "1.0.0": { ...manifest, dist } };
    const body = { name: manifest.name, "dist-tags": { latest: "1.0.0" }, versions };
    return response.setHeader("content-type", "application/json").end(JSON.stringify(body));
  };
}
