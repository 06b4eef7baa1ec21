import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";
import { certificate, tlsHost } from "../gateway/hosts.ts";
import { dockerStage, giveAll, runContained } from "../support/container.ts";
import { testEngine } from "../support/engine.ts";
import { logOf } from "../support/job.ts";
import { obey, toolResults } from "../support/runtime.ts";
import type { Stage } from "../support/stage.ts";

const engine = await testEngine();

test("an open host serves git and a package install; another is refused, with the remedy on record", async () => {
  const on = await dockerStage(engine, { mode: "obedient" });
  const host = await tlsHost(await packagesAndRepository(on));
  const url = (name: string) => `https://${name}:${host.port}`;
  writeFileSync(join(on.workspace, "package.json"), "{}");
  giveAll(on.workspace);
  const { job } = await runContained(on, {
    yaml: `
env: { GIT_SSL_CAINFO: /cert.pem, NODE_EXTRA_CA_CERTS: /cert.pem, CURL_CA_BUNDLE: /cert.pem }
docker:
  enabled: true
  egress: [{ host: "registry.test:${host.port}", address: 127.0.0.1 }]
  volumes: ["${certificate}:/cert.pem", "${process.execPath}:/opt/node", "${npm}:/opt/npm"]`,
    prompt: obey(
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
  const [listed, installed, refused, direct] = toolResults(await logOf(job));
  expect(listed).toMatch(/[0-9a-f]{40}\\tHEAD/);
  expect(installed).toContain("added 1 package");
  expect(existsSync(join(on.workspace, "node_modules/herd-sound/index.js"))).toBe(true);
  expect(refused).toContain("403");
  expect(direct).toMatch(/Couldn't connect|Network is unreachable|Immediate connect fail/);
  expect(job.warnings.join("\n")).toContain(
    `to allow it: docker.egress: [other.test:${host.port}]`,
  );
});

test("without egress there is no way to a host, by name or by address", async () => {
  const on = await dockerStage(engine, { mode: "obedient" });
  const host = await tlsHost((_, response) => response.end("reached"));
  const { job } = await runContained(on, {
    prompt: obey(
      ["Bash", { command: `curl -sSk --max-time 5 https://127.0.0.1:${host.port}/` }],
      ["Bash", { command: `curl -sSk --max-time 5 https://${engine.hostAddress}:${host.port}/` }],
      ["Bash", { command: "curl -sS --max-time 5 http://example.com/; ls /sys/class/net" }],
    ),
  });
  const results = toolResults(await logOf(job)).join("\n");
  expect(results).not.toContain("reached");
  expect(results).toMatch(/Could not resolve/);
  expect(host.seen).toEqual([]);
});

const npm = join(execFileSync("npm", ["root", "-g"], { encoding: "utf8" }).trim(), "npm");

/** A registry with one package, and a repository beside it. */
async function packagesAndRepository(on: Stage): Promise<RequestListener> {
  const served = join(on.home, "served");
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.test", ...args], {
      cwd: on.home,
      env: on.env,
      stdio: "ignore",
    });
  mkdirSync(served);
  git("init", "-q", "-b", "main", "made");
  git("-C", "made", "commit", "-q", "--allow-empty", "-m", "first");
  git("clone", "-q", "--bare", "made", "served/repo.git");
  git("-C", "served/repo.git", "update-server-info");

  const made = join(on.home, "herd-sound");
  mkdirSync(made);
  const manifest = { name: "herd-sound", version: "1.0.0", main: "index.js" };
  writeFileSync(join(made, "index.js"), "module.exports = 'moo';");
  writeFileSync(join(made, "package.json"), JSON.stringify(manifest));
  const packed = execFileSync("npm", ["pack", "--silent"], { cwd: made, env: on.env });
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
