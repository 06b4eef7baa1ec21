import { expect, test } from "vitest";
import { judge } from "../../packages/core/src/doctor/self-test/judge.ts";
import { type Evidence, readObserved } from "../../packages/core/src/doctor/self-test/observed.ts";
import { agentOf, inlineAgent, load } from "../support/fleet.ts";

const facts = {
  ...{ uid: "1000", CapEff: "0000000000000000", CapBnd: "0000000000000000" },
  ...{ NoNewPrivs: "1", Seccomp: "2", root: "read-only" },
  ...{ memory: String(2 * 1024 ** 3), pids: "512", interfaces: "lo", routes: "" },
};

const stopped = ["TCP 1.1.1.1:443", "UDP 8.8.8.8:53", "DNS example.com", "gateway GET /v1/files"];

interface Seen {
  facts?: Record<string, string>;
  lines?: string[];
  complete?: boolean;
}

/** What a container as it should be shows, but for these differences. */
function evidence({ facts: others, lines = [], complete = true }: Seen, more = {}): Evidence {
  const text = [
    ...Object.entries({ ...facts, ...others }).map(([name, value]) => `fact\t${name}\t${value}`),
    ...stopped.map((name) => `stopped\t${name}\tNetwork is unreachable`),
    ...["process\t/proc/1/environ\tHOME=/", "process\t/proc/1/cmdline\tsh"],
    ...lines,
    ...(complete ? ["done\tself-test\t"] : []),
  ].join("\n");
  const observed = readObserved(text);
  return { observed, found: [], files: 10, arrived: [], refused: ["GET /v1/files"], ...more };
}

function verdicts(seen: Evidence, docker = "enabled: true"): Record<string, string> {
  const agent = agentOf(load(inlineAgent(`working_directory: /srv\ndocker: { ${docker} }`)), "one");
  return Object.fromEntries(judge(agent, seen).map(({ name, verdict }) => [name, verdict]));
}

const allWell = {
  ...{ credentials: "ok", network: "ok", doors: "ok" },
  ...{ rights: "ok", limits: "ok" },
};

test("a container as it should be is well", () => {
  expect(verdicts(evidence({}))).toEqual(allWell);
});

const secret = { secret: "GITHUB_TOKEN", path: "/workspace/.env" };
const apiKey = { secret: "ANTHROPIC_API_KEY", path: "/proc/1/environ" };

const wrongs: [title: string, check: string, seen: Evidence][] = [
  ["runs as root", "rights", evidence({ facts: { uid: "0" } })],
  ["has capabilities", "rights", evidence({ facts: { CapEff: "00000000a80425fb" } })],
  ["could gain them", "rights", evidence({ facts: { CapBnd: "00000000a80425fb" } })],
  ["may gain privileges", "rights", evidence({ facts: { NoNewPrivs: "0" } })],
  ["has no seccomp profile", "rights", evidence({ facts: { Seccomp: "0" } })],
  ["has a writable root", "rights", evidence({ facts: { root: "writable" } })],
  ["has all the memory", "limits", evidence({ facts: { memory: "max" } })],
  ["has another limit", "limits", evidence({ facts: { memory: String(4 * 1024 ** 3) } })],
  ["may start any number of processes", "limits", evidence({ facts: { pids: "max" } })],
  ["has a network card", "network", evidence({ facts: { interfaces: "eth0 lo" } })],
  ["has a route", "network", evidence({ facts: { routes: "eth0 0 0" } })],
  ["reaches an address", "network", evidence({ lines: ["reached\tTCP 8.8.8.8:53\t"] })],
  ["resolves a name", "network", evidence({ lines: ["reached\tDNS example.com\t192.0.2.1"] })],
  ["reaches this machine", "network", evidence({}, { arrived: ["UDP from 10.0.0.2"] })],
  ["finds a socket", "network", evidence({ lines: ["reached\tsocket /workspace/a.sock\t"] })],
  ["cannot try a way", "network", evidence({ lines: ["untried\tTCP 8.8.8.8:53\tno socat"] })],
  ["is served more than messages", "doors", evidence({}, { refused: [] })],
  ["reaches metadata by proxy", "doors", evidence({ lines: ["reached\tproxy 169.254.169.254\t"] })],
  ["holds a secret", "credentials", evidence({}, { found: [secret] })],
  ["cannot be searched", "credentials", evidence({}, { files: 0 })],
  ["holds the key", "credentials", evidence({}, { found: [apiKey] })],
];

test.each(wrongs)("one that %s is not", (_, check, seen) => {
  expect(verdicts(seen)).toEqual({ ...allWell, [check]: "failed" });
});

test("a test that broke off proves nothing", () => {
  expect(verdicts(evidence({ complete: false }))).toEqual({ "self-test": "failed" });
});

test("what the operator chose is a warning; what he did not is still a failure", () => {
  const open = evidence({ lines: ["reached\tTCP 8.8.8.8:53\t"] });
  expect(verdicts(open, "enabled: true, network: bridge")).toMatchObject({ network: "warning" });
  const env = "enabled: true, auth: env";
  expect(verdicts(evidence({}, { found: [apiKey] }), env)).toMatchObject({
    credentials: "warning",
  });
  const both = evidence({}, { found: [apiKey, secret] });
  expect(verdicts(both, env)).toMatchObject({ credentials: "failed" });
});
