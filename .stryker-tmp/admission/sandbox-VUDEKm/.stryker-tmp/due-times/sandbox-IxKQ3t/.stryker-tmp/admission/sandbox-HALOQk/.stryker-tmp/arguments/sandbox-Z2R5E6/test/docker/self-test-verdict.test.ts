import { expect, test } from "vitest";
import { evaluateEvidence } from "../../packages/core/src/doctor/self-test/evaluate-evidence.ts";
import {
  type Evidence,
  parseProbeReport,
} from "../../packages/core/src/doctor/self-test/probe-report.ts";
import { agentOf, inlineAgent, loadTestFleet } from "../support/fleet-config.ts";

const facts = {
  ...{ uid: "1000", CapEff: "0000000000000000", CapBnd: "0000000000000000" },
  ...{ NoNewPrivs: "1", Seccomp: "2", root: "read-only" },
  ...{ memory: String(2 * 1024 ** 3), pids: "512", interfaces: "lo", routes: "" },
};

const blockedConnections = [
  "TCP 1.1.1.1:443",
  "UDP 8.8.8.8:53",
  "DNS example.com",
  "gateway GET /v1/files",
];

interface ProbeResult {
  facts?: Record<string, string>;
  lines?: string[];
  complete?: boolean;
}

/** The result of a correct container, with these differences. */
function evidence(
  { facts: others, lines = [], complete = true }: ProbeResult,
  more = {},
): Evidence {
  const text = [
    ...Object.entries({ ...facts, ...others }).map(([name, value]) => `fact\t${name}\t${value}`),
    ...blockedConnections.map((name) => `stopped\t${name}\tNetwork is unreachable`),
    ...["process\t/proc/1/environ\tHOME=/", "process\t/proc/1/cmdline\tsh"],
    ...lines,
    ...(complete ? ["done\tself-test\t"] : []),
  ].join("\n");
  const observed = parseProbeReport(text);
  return {
    report: observed,
    secretMatches: [],
    fileCount: 10,
    arrivals: [],
    refusedByProxies: ["GET /v1/files"],
    ...more,
  };
}

function verdicts(seen: Evidence, docker = "enabled: true"): Record<string, string> {
  const agent = agentOf(
    loadTestFleet(inlineAgent(`working_directory: /srv\ndocker: { ${docker} }`)),
    "one",
  );
  return Object.fromEntries(
    evaluateEvidence(agent, seen).map(({ name, verdict }) => [name, verdict]),
  );
}

const allOk = {
  ...{ credentials: "ok", network: "ok", proxies: "ok" },
  ...{ rights: "ok", limits: "ok" },
};

test("passes for a correct container", () => {
  expect(verdicts(evidence({}))).toEqual(allOk);
});

const secret = { secret: "GITHUB_TOKEN", path: "/workspace/.env", isApiCredential: false };
const apiKey = { secret: "ANTHROPIC_API_KEY", path: "/proc/1/environ", isApiCredential: true };

const failureCases: [title: string, check: string, seen: Evidence][] = [
  ["runs as root", "rights", evidence({ facts: { uid: "0" } })],
  ["has capabilities", "rights", evidence({ facts: { CapEff: "00000000a80425fb" } })],
  ["could gain capabilities", "rights", evidence({ facts: { CapBnd: "00000000a80425fb" } })],
  ["may gain privileges", "rights", evidence({ facts: { NoNewPrivs: "0" } })],
  ["has no seccomp profile", "rights", evidence({ facts: { Seccomp: "0" } })],
  ["has a writable root", "rights", evidence({ facts: { root: "writable" } })],
  ["has unlimited memory", "limits", evidence({ facts: { memory: "max" } })],
  ["has another limit", "limits", evidence({ facts: { memory: String(4 * 1024 ** 3) } })],
  ["may start any number of processes", "limits", evidence({ facts: { pids: "max" } })],
  ["has a network interface", "network", evidence({ facts: { interfaces: "eth0 lo" } })],
  ["has a route", "network", evidence({ facts: { routes: "eth0 0 0" } })],
  ["reaches an address", "network", evidence({ lines: ["reached\tTCP 8.8.8.8:53\t"] })],
  ["resolves a name", "network", evidence({ lines: ["reached\tDNS example.com\t192.0.2.1"] })],
  ["reaches the host", "network", evidence({}, { arrivals: ["UDP from 10.0.0.2"] })],
  ["finds a socket", "network", evidence({ lines: ["reached\tsocket /workspace/a.sock\t"] })],
  ["cannot test a way out", "network", evidence({ lines: ["untried\tTCP 8.8.8.8:53\tno socat"] })],
  ["gets more than messages from the API", "proxies", evidence({}, { refusedByProxies: [] })],
  [
    "reaches metadata by proxy",
    "proxies",
    evidence({ lines: ["reached\tproxy 169.254.169.254\t"] }),
  ],
  ["holds a secret", "credentials", evidence({}, { secretMatches: [secret] })],
  ["cannot be searched", "credentials", evidence({}, { fileCount: 0 })],
  ["holds the key", "credentials", evidence({}, { secretMatches: [apiKey] })],
];

test.each(failureCases)("fails for a container that %s", (_, check, seen) => {
  expect(verdicts(seen)).toEqual({ ...allOk, [check]: "failed" });
});

test("reports an interrupted test as inconclusive", () => {
  expect(verdicts(evidence({ complete: false }))).toEqual({ "self-test": "failed" });
});

test("warns about what the operator chose, and still fails for the rest", () => {
  const open = evidence({ lines: ["reached\tTCP 8.8.8.8:53\t"] });
  expect(verdicts(open, "enabled: true, network: bridge")).toMatchObject({ network: "warning" });
  const env = "enabled: true, auth: env";
  expect(verdicts(evidence({}, { secretMatches: [apiKey] }), env)).toMatchObject({
    credentials: "warning",
  });
  const both = evidence({}, { secretMatches: [apiKey, secret] });
  expect(verdicts(both, env)).toMatchObject({ credentials: "failed" });
});
