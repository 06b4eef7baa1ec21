import type { Environment, ResolvedAgent } from "@herdctl/config";
import { type Finding, failed, ok, warning } from "../check.ts";
import { isSecretName } from "../posture/reachable-secrets.ts";

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

type ProbeResult = "reached" | "stopped" | "untried";

/** A connection that was tried, such as `TCP 1.1.1.1:443`. */
interface NetworkProbe {
  name: string;
  result: ProbeResult;
  detail: string;
}

export interface ProbeReport {
  facts: ReadonlyMap<string, string>;
  probes: readonly NetworkProbe[];
  /** Environment and arguments of every process, by path in `/proc`. */
  processes: ReadonlyMap<string, string>;
  isComplete: boolean;
}

/** Observations from inside and outside the container. */
export interface Evidence {
  report: ProbeReport;
  secretMatches: readonly SecretMatch[];
  fileCount: number;
  /** Addresses of this machine that received data from the container. */
  arrivals: readonly string[];
  /** Requests that gateway and egress proxy refused. */
  refusedByProxies: readonly string[];
}

const probeResults = new Set<string>(["reached", "stopped", "untried"]);

/** Parses the lines of the self-test script: kind, name and value, separated by tabs. */
export function parseProbeReport(text: string): ProbeReport {
  const rows = text.split("\n").map((line) => line.split("\t"));
  const factsOfKind = (kind: string) =>
    new Map(
      rows.flatMap(([rowKind, name = "", value = ""]) => (rowKind === kind ? [[name, value]] : [])),
    );
  const probes = rows.flatMap(([rowKind = "", name = "", detail = ""]) =>
    isProbeResult(rowKind) ? [{ name, result: rowKind, detail }] : [],
  );
  return {
    facts: factsOfKind("fact"),
    processes: factsOfKind("process"),
    probes,
    isComplete: factsOfKind("done").size > 0,
  };
}

function isProbeResult(text: string): text is ProbeResult {
  return probeResults.has(text);
}

export interface Secret {
  name: string;
  value: string;
  /** Whether it is a key or token for the model's API. */
  isApiCredential: boolean;
}

export interface SecretMatch extends Pick<Secret, "isApiCredential"> {
  /** The name of the secret; its value is never shown. */
  secret: string;
  /** The file in the container. */
  path: string;
}

const minSecretLength = 8;

const apiCredentialVariables: readonly string[] = [
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_AUTH_TOKEN",
  "CLAUDE_CODE_OAUTH_TOKEN",
];

/**
 * Secrets that an agent's container must not contain: those in the fleet's environment and those of
 * MCP servers outside the container. Values that the configuration gives to the agent are excluded.
 */
export function collectSecrets(env: Environment, agent: ResolvedAgent): Secret[] {
  const intendedValues = new Set([...Object.values(agent.env), ...Object.values(agent.docker.env)]);
  const environmentSecrets = Object.entries(env).filter(([name]) => isSecretName(name));
  const servers = Object.entries(agent.mcp_servers).flatMap(([server, config]) =>
    config.run === "container" ? [] : mcpServerSecrets(server, config),
  );
  return [...environmentSecrets, ...servers].flatMap(([name, value]) =>
    value !== undefined && value.length >= minSecretLength && !intendedValues.has(value)
      ? [{ name, value, isApiCredential: apiCredentialVariables.includes(name) }]
      : [],
  );
}

type ServerConfig = ResolvedAgent["mcp_servers"][string];

function mcpServerSecrets(server: string, config: ServerConfig): [string, string][] {
  const values = { ...("env" in config && config.env), ...("headers" in config && config.headers) };
  return Object.entries(values).map(([name, value]) => [`${name} of ${server}`, value]);
}

const apiCredentialPattern = /sk-ant-[A-Za-z0-9_-]{16,}/;

export function findSecrets(
  path: string,
  content: Buffer,
  secrets: readonly Secret[],
): SecretMatch[] {
  const matches = secrets
    .filter(({ value }) => content.includes(value))
    .map(({ name, isApiCredential }) => ({ secret: name, path, isApiCredential }));
  if (matches.length > 0 || !apiCredentialPattern.test(content.toString("latin1"))) return matches;
  return [{ secret: "an API credential", path, isApiCredential: true }];
}
