import { presets } from "./presets.ts";
import { isName, type Target } from "./target.ts";

/** As in `docker.egress`: a preset, `name`, `*.name`, `name:port`, or a host with more to say. */
export type EgressRule = string | { host: string; address?: string; protocol?: "tcp" };

/** What a tunnel may carry: TLS with the host's own name, or anything. */
export type Protocol = "tls" | "tcp";

/** Where a host that is open may be reached: wherever its name leads, or at given addresses only. */
export type Opening = { protocol: Protocol } & (
  | { kind: "resolve" }
  | { kind: "pinned"; addresses: readonly string[] }
);

interface Clause {
  host: string;
  anyBelow: boolean;
  port: number;
  address?: string;
  protocol?: "tcp";
}

/** Of a rule that names no port. Plain HTTP has to be opened with `name:80`. */
const httpsPort = 443;

/** Which hosts are open. Says nothing of the addresses that their names lead to. */
export function egressRules(rules: readonly EgressRule[]): (target: Target) => Opening | undefined {
  const clauses = rules.flatMap(clausesOf);
  return (target) => {
    const fitting = clauses.filter((clause) => fits(clause, target));
    if (fitting.length === 0) return undefined;
    const addresses = fitting.flatMap((clause) => clause.address ?? []);
    const protocol = fitting.some((clause) => clause.protocol === "tcp") ? "tcp" : "tls";
    return addresses.length > 0
      ? { kind: "pinned", addresses, protocol }
      : { kind: "resolve", protocol };
  };
}

interface Allowed {
  address?: string;
  protocol?: "tcp";
}

/** The line of the fleet file that opens a host. */
export function egressRemedy({ host, port }: Target, { address, protocol }: Allowed = {}): string {
  const isUsual = port === httpsPort && protocol === undefined;
  const name = isUsual ? host : `${host}:${port}`;
  if (!address && !protocol) return `docker.egress: [${name}]`;
  const more = [address && `, address: "${address}"`, protocol && `, protocol: ${protocol}`];
  return `docker.egress: [{host: "${name}"${more.filter(Boolean).join("")}}]`;
}

function clausesOf(rule: EgressRule): Clause[] {
  if (typeof rule !== "string") return [{ ...rule, ...clauseOf(rule.host) }];
  return (presets[rule] ?? [rule]).map(clauseOf);
}

function clauseOf(text: string): Clause {
  const [name = "", port] = text.toLowerCase().split(":");
  const anyBelow = name.startsWith("*.");
  const host = anyBelow ? name.slice("*.".length) : name;
  if (!isName(host)) throw new Error(`not the name of a host: ${text}`);
  return { host, anyBelow, port: port === undefined ? httpsPort : Number(port) };
}

function fits({ host, anyBelow, port }: Clause, target: Target): boolean {
  if (port !== target.port) return false;
  return anyBelow ? target.host.endsWith(`.${host}`) : target.host === host;
}
