import type { ResolvedAgent } from "@herdctl/config";
import { type Finding, failed, ok, warning } from "../check.ts";
import type { SecretMatch } from "./find-secrets.ts";
import type { Evidence, NetworkProbe, ProbeReport } from "./probe-report.ts";

type Docker = ResolvedAgent["docker"];

/** Evaluates the self-test: is the container isolated as configured? */
export function evaluateEvidence(
  { name: agent, docker }: Pick<ResolvedAgent, "name" | "docker">,
  evidence: Evidence,
): Finding[] {
  if (!evidence.report.isComplete) {
    const hint = "Check that the image has a shell and the usual command-line tools.";
    return [{ ...failed("self-test", "It stopped before it was complete.", hint), agent }];
  }
  const checks = [
    checkCredentials(docker, evidence),
    checkNetwork(docker, evidence),
    checkProxies(docker, evidence),
    checkPrivileges(docker, evidence.report),
    checkLimits(docker, evidence.report),
  ];
  return checks.map((check) => ({ ...check, agent }));
}

function checkCredentials(
  { auth }: Docker,
  { secretMatches, fileCount, report }: Evidence,
): Finding {
  const name = "credentials";
  const isCredentialGranted = auth === "env" || auth === "mount";
  const unexpected = secretMatches.filter(
    ({ isApiCredential }) => !(isCredentialGranted && isApiCredential),
  );
  if (fileCount === 0 || report.processes.size === 0) {
    const hint = "Build the image with find, xargs and tar, as in Debian.";
    return failed(name, "The files and processes of the container could not be read.", hint);
  }
  const read = `${fileCount} files and ${report.processes.size / 2} processes were read`;
  if (unexpected.length > 0) {
    const hint = "Remove it, or pass it to the agent explicitly with `docker.env`.";
    return failed(
      name,
      `The container contains ${formatList(unexpected.map(describeMatch))}.`,
      hint,
    );
  }
  if (secretMatches.length > 0) {
    const hint = "Use `auth: gateway` with an API key to keep it outside.";
    return warning(name, `With \`auth: ${auth}\`, the container contains the credential.`, hint);
  }
  return ok(name, `The container contains no credential; ${read}.`);
}

function describeMatch({ secret, path }: SecretMatch): string {
  return `${secret} in ${path}`;
}

const egressProbePattern = /^(TCP|UDP|DNS|host|socket) /;

function checkNetwork({ network }: Docker, { report, arrivals }: Evidence): Finding {
  const name = "network";
  const probes = report.probes.filter((probe) => egressProbePattern.test(probe.name));
  const escapes = [
    ...arrivals.map((route) => `this machine by ${route}`),
    ...probeNames(probes, "reached"),
  ];
  if (network !== "none") {
    const hint = "Use `network: none`, and allow the hosts that the agent needs with `egress`.";
    return warning(name, `\`network: ${network}\` gives it access: ${formatList(escapes)}.`, hint);
  }
  const interfaces = splitFact(report, "interfaces").filter((device) => device !== "lo");
  const routes = report.facts.get("routes")?.trim() ?? "";
  if (interfaces.length > 0 || routes !== "")
    escapes.push(`a route over ${interfaces.join(", ") || "loopback"}`);
  if (escapes.length > 0) {
    return failed(
      name,
      `The container has network access: ${formatList(escapes)}.`,
      "Do not run this agent; report it.",
    );
  }
  const missing = probeNames(probes, "untried");
  if (missing.length > 0) {
    const hint = "Build the image with socat and curl, as `herdctl docker build` does.";
    return failed(name, `These connections could not be tried: ${formatList(missing)}.`, hint);
  }
  return ok(
    name,
    `No network access: ${probes.length} connections were tried, and there is no route.`,
  );
}

/** A request that only the upstream refused also counts as let through. */
function checkProxies({ network }: Docker, { report, refusedByProxies }: Evidence): Finding {
  const name = "proxies";
  if (network !== "none") return ok(name, "The gateway forwards all API requests of the agent.");
  const gateway = report.probes.filter((probe) => probe.name.startsWith("gateway "));
  const proxy = report.probes.filter((probe) => probe.name.startsWith("proxy "));
  const notRefused = [
    ...gateway.filter((probe) => !refusedByProxies.includes(probe.name.replace("gateway ", ""))),
    ...proxy.filter(({ result }) => result !== "stopped"),
  ];
  if (gateway.length > 0 && notRefused.length === 0) {
    const also =
      proxy.length > 0 ? ", and the proxy refuses addresses in this machine's network" : "";
    return ok(name, `The gateway refuses requests other than messages${also}.`);
  }
  const probes = formatList(notRefused.map((probe) => `${probe.name} (${probe.detail})`));
  return failed(
    name,
    `Not refused: ${probes}.`,
    "Check that the image has curl; otherwise report it.",
  );
}

function checkPrivileges({ read_only }: Docker, { facts }: ProbeReport): Finding {
  const isNone = (name: string) => /^0+$/.test(facts.get(name) ?? "");
  const problems = [
    facts.get("uid") === "0" && "it runs as root",
    !(isNone("CapEff") && isNone("CapBnd")) && "it has capabilities",
    facts.get("NoNewPrivs") !== "1" && "it can gain privileges",
    facts.get("Seccomp") !== "2" && "no seccomp profile is active",
    read_only && facts.get("root") !== "read-only" && "its root file system is writable",
  ].filter((problem) => problem !== false);
  if (problems.length === 0) {
    return ok("rights", `User ${facts.get("uid")} has no capabilities and cannot gain any.`);
  }
  return failed(
    "rights",
    `The container is not restricted: ${formatList(problems)}.`,
    "Update the Docker engine.",
  );
}

const pageSizeBytes = 4_096;

function checkLimits({ memory, pids_limit }: Docker, { facts }: ProbeReport): Finding {
  const isMemory = Math.abs(Number(facts.get("memory")) - memory) < pageSizeBytes;
  const isPids = Number(facts.get("pids")) === pids_limit;
  if (isMemory && isPids) {
    return ok("limits", "Memory and the number of processes are limited as configured.");
  }
  const missing = [!isMemory && "memory", !isPids && "processes"].filter(
    (limit) => limit !== false,
  );
  return failed(
    "limits",
    `The limit on ${missing.join(" and ")} is not enforced.`,
    "Enable the memory and pids controllers of the kernel's control groups.",
  );
}

function probeNames(probes: readonly NetworkProbe[], result: NetworkProbe["result"]): string[] {
  return probes.filter((probe) => probe.result === result).map(({ name }) => name);
}

function splitFact({ facts }: ProbeReport, name: string): string[] {
  return (facts.get(name) ?? "").split(/\s+/).filter((word) => word !== "");
}

const maxListed = 5;

function formatList(all: readonly string[]): string {
  const more = all.length > maxListed ? ` and ${all.length - maxListed} more` : "";
  return all.length === 0 ? "nothing was reached" : all.slice(0, maxListed).join(", ") + more;
}
