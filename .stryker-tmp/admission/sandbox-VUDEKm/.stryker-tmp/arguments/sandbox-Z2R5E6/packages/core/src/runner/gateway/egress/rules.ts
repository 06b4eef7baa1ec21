import { isHostName, type Target } from "./target.ts";

/** An entry of `docker.egress`: a preset, `name`, `*.name`, `name:port`, or an object. */
export type EgressRule = string | { host: string; address?: string; protocol?: "tcp" };

/** The allowed content of a tunnel: TLS for the host's name, or anything. */
export type TunnelProtocol = "tls" | "tcp";

/** Where an allowed host may be reached: at the addresses of its name, or only at given addresses. */
export type EgressGrant = { protocol: TunnelProtocol } & (
  | { kind: "resolve" }
  | { kind: "pinned"; addresses: readonly string[] }
);

interface HostPattern {
  host: string;
  matchesSubdomains: boolean;
  port: number;
  address?: string;
  protocol?: "tcp";
}

/** Port of a rule without a port. Plain HTTP needs `name:80`. */
const httpsPort = 443;

/** Compiles the rules for allowed hosts. Addresses are checked elsewhere, after resolving. */
export function compileEgressRules(
  rules: readonly EgressRule[],
): (target: Target) => EgressGrant | undefined {
  const patterns = rules.flatMap(parseRule);
  return (target) => {
    const matching = patterns.filter((pattern) => matchesTarget(pattern, target));
    // defence: named-hosts-only
    if (matching.length === 0) return undefined;
    const addresses = matching.flatMap(({ address }) => address ?? []);
    const protocol = matching.some((pattern) => pattern.protocol === "tcp") ? "tcp" : "tls";
    return addresses.length > 0
      ? { kind: "pinned", addresses, protocol }
      : { kind: "resolve", protocol };
  };
}

interface RemedyOptions {
  address?: string;
  protocol?: "tcp";
}

/** The fleet file setting that allows a host. */
export function egressRemedy(
  { host, port }: Target,
  { address, protocol }: RemedyOptions = {},
): string {
  const isDefault = port === httpsPort && protocol === undefined;
  const name = isDefault ? host : `${host}:${port}`;
  if (!address && !protocol) return `docker.egress: [${name}]`;
  const extraFields = [address && `, address: "${address}"`, protocol && `, protocol: ${protocol}`];
  return `docker.egress: [{host: "${name}"${extraFields.filter(Boolean).join("")}}]`;
}

function parseRule(rule: EgressRule): HostPattern[] {
  if (typeof rule !== "string") return [{ ...rule, ...parseHostPattern(rule.host) }];
  return (egressPresets[rule] ?? [rule]).map(parseHostPattern);
}

function parseHostPattern(text: string): HostPattern {
  const [name = "", port] = text.toLowerCase().split(":");
  const matchesSubdomains = name.startsWith("*.");
  const host = matchesSubdomains ? name.slice("*.".length) : name;
  if (!isHostName(host)) throw new Error(`not a host name: ${text}`);
  return { host, matchesSubdomains, port: port === undefined ? httpsPort : Number(port) };
}

function matchesTarget({ host, matchesSubdomains, port }: HostPattern, target: Target): boolean {
  if (port !== /* defence: default-port-443 */ target.port) return false;
  return matchesSubdomains ? target.host.endsWith(`.${host}`) : target.host === host;
}

const debian = [
  "deb.debian.org",
  "security.debian.org",
  "ftp.debian.org",
  "cdn-fastly.deb.debian.org",
  "cdn-aws.deb.debian.org",
];

/** The hosts of package sources, with port 443 unless another port is given. */
export const egressPresets: Readonly<Record<string, readonly string[]>> = {
  npm: ["registry.npmjs.org", "registry.yarnpkg.com"],
  github: [
    "github.com",
    "api.github.com",
    "codeload.github.com",
    "raw.githubusercontent.com",
    "objects.githubusercontent.com",
    "release-assets.githubusercontent.com",
    "media.githubusercontent.com",
    "github-cloud.githubusercontent.com",
  ],
  pypi: ["pypi.org", "files.pythonhosted.org"],
  // apt fetches over plain HTTP and checks signatures.
  debian: [...debian, ...debian.map((host) => `${host}:80`)],
};
