import type { ResolvedAgent } from "../../config/resolve.ts";
import { type Finding, failed, ok, warning } from "../check.ts";
import type { Evidence, Observed, Try } from "./observed.ts";
import type { Found } from "./search.ts";

type Docker = ResolvedAgent["docker"];

/** What the self-test's findings mean for an agent that was to be kept in as its configuration says. */
export function judge(
  { name: agent, docker }: Pick<ResolvedAgent, "name" | "docker">,
  evidence: Evidence,
): Finding[] {
  if (!evidence.observed.complete) {
    const hint = "Look whether the image has a shell and the usual small programs.";
    return [{ ...failed("self-test", "It broke off before it was done.", hint), agent }];
  }
  const checks = [
    credentials(docker, evidence),
    network(docker, evidence),
    doors(docker, evidence),
    rights(docker, evidence.observed),
    limits(docker, evidence.observed),
  ];
  return checks.map((check) => ({ ...check, agent }));
}

const apiCredentials = new Set([
  ...["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
  ...["the API key", "a credential of the API"],
]);

function credentials({ auth }: Docker, { found, files, observed }: Evidence): Finding {
  const name = "credentials";
  const isGranted = ({ secret }: Found) =>
    (auth === "env" || auth === "mount") && apiCredentials.has(secret);
  const leaked = found.filter((one) => !isGranted(one));
  if (files === 0 || observed.processes.size === 0) {
    const hint = "Build the image with find, xargs and tar in it, as Debian has them.";
    return failed(name, "Nothing could be read, so nothing is known of what it holds.", hint);
  }
  const read = `${files} files and ${observed.processes.size / 2} processes were read`;
  if (leaked.length > 0) {
    const hint = "Take it out of there, or give it to the agent knowingly with `docker.env`.";
    return failed(name, `The container holds ${listed(leaked.map(whereFound))}.`, hint);
  }
  if (found.length > 0) {
    const hint = "Use `auth: gateway` with an API key to keep it outside.";
    return warning(name, `By \`auth: ${auth}\` the container holds the credential.`, hint);
  }
  return ok(name, `No credential is inside; ${read}.`);
}

function whereFound({ secret, path }: Found): string {
  return `${secret} in ${path}`;
}

const waysOut = /^(TCP|UDP|DNS|host|socket) /;

function network({ network }: Docker, { observed, arrived }: Evidence): Finding {
  const name = "network";
  const tries = observed.tries.filter((one) => waysOut.test(one.name));
  const out = [...arrived.map((place) => `this machine by ${place}`), ...named(tries, "reached")];
  if (network !== "none") {
    const hint = "Use `network: none`, and open what the agent needs with `egress`.";
    return warning(name, `\`network: ${network}\` lets it out: ${listed(out)}.`, hint);
  }
  const cards = words(observed, "interfaces").filter((card) => card !== "lo");
  const routes = observed.facts.get("routes")?.trim() ?? "";
  if (cards.length > 0 || routes !== "") out.push(`a route over ${cards.join(", ") || "loopback"}`);
  if (out.length > 0) {
    return failed(name, `Something gets out: ${listed(out)}.`, "Do not run this agent; report it.");
  }
  const missing = named(tries, "untried");
  if (missing.length > 0) {
    const hint = "Build the image with socat and curl in it, as `herdctl docker build` does.";
    return failed(name, `These ways out could not be tried: ${listed(missing)}.`, hint);
  }
  return ok(name, `Nothing gets out: ${tries.length} ways were tried, and there is no route.`);
}

/** Reached means that it was served; what the upstream itself turned away has been let through too. */
function doors({ network }: Docker, { observed, refused }: Evidence): Finding {
  const name = "doors";
  if (network !== "none") return ok(name, "The gateway passes on what the agent asks of the API.");
  const gateway = observed.tries.filter((one) => one.name.startsWith("gateway "));
  const proxy = observed.tries.filter((one) => one.name.startsWith("proxy "));
  const open = [
    ...gateway.filter((one) => !refused.includes(one.name.replace("gateway ", ""))),
    ...proxy.filter(({ result }) => result !== "stopped"),
  ];
  if (gateway.length > 0 && open.length === 0) {
    const also = proxy.length > 0 ? ", and the proxy what lies in this machine's network" : "";
    return ok(name, `The gateway refuses what is no message${also}.`);
  }
  const which = listed(open.map((one) => `${one.name} (${one.detail})`));
  return failed(name, `Not refused: ${which}.`, "Look whether the image has curl; else report it.");
}

function rights({ read_only }: Docker, { facts }: Observed): Finding {
  const isNone = (name: string) => /^0+$/.test(facts.get(name) ?? "");
  const wrongs = [
    facts.get("uid") === "0" && "it runs as root",
    !(isNone("CapEff") && isNone("CapBnd")) && "it has capabilities",
    facts.get("NoNewPrivs") !== "1" && "it may gain privileges",
    facts.get("Seccomp") !== "2" && "no seccomp profile is in force",
    read_only && facts.get("root") !== "read-only" && "its root can be written",
  ].filter((wrong) => wrong !== false);
  if (wrongs.length === 0) {
    return ok("rights", `User ${facts.get("uid")}, without capabilities, and no way to gain any.`);
  }
  return failed("rights", `In the container ${listed(wrongs)}.`, "Update the Docker engine.");
}

const page = 4_096;

function limits({ memory, pids_limit }: Docker, { facts }: Observed): Finding {
  const isMemory = Math.abs(Number(facts.get("memory")) - memory) < page;
  const isPids = Number(facts.get("pids")) === pids_limit;
  if (isMemory && isPids) {
    return ok("limits", "Memory and the number of processes are limited as configured.");
  }
  const missing = [!isMemory && "memory", !isPids && "processes"].filter((one) => one !== false);
  return failed(
    "limits",
    `The limit on ${missing.join(" and ")} is not in force.`,
    "Enable the memory and pids controllers of the kernel's control groups.",
  );
}

function named(tries: readonly Try[], result: Try["result"]): string[] {
  return tries.filter((one) => one.result === result).map((one) => one.name);
}

function words({ facts }: Observed, name: string): string[] {
  return (facts.get(name) ?? "").split(/\s+/).filter((word) => word !== "");
}

const most = 5;

function listed(all: readonly string[]): string {
  const more = all.length > most ? ` and ${all.length - most} more` : "";
  return all.length === 0 ? "nothing was reached" : all.slice(0, most).join(", ") + more;
}
