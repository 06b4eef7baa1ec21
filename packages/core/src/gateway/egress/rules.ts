import { presets } from "./presets.ts";
import { isName, type Target } from "./target.ts";

/** As `docker.egress` says it: a preset, `name`, `*.name`, `name:port`; or a name at one address. */
export type EgressRule = string | { host: string; address: string };

/** Where a host that is open may be reached: wherever its name leads, or at given addresses only. */
export type Opening = { kind: "resolve" } | { kind: "pinned"; addresses: readonly string[] };

interface Clause {
  host: string;
  anyBelow: boolean;
  ports: readonly number[];
  address?: string;
}

const usualPorts = [443, 80];

/** Which hosts are open. Says nothing of the addresses that their names lead to. */
export function egressRules(rules: readonly EgressRule[]): (target: Target) => Opening | undefined {
  const clauses = rules.flatMap(clausesOf);
  return (target) => {
    const fitting = clauses.filter((clause) => fits(clause, target));
    if (fitting.length === 0) return undefined;
    const addresses = fitting.flatMap((clause) => clause.address ?? []);
    return addresses.length > 0 ? { kind: "pinned", addresses } : { kind: "resolve" };
  };
}

/** The line of the fleet file that opens a host. */
export function egressRemedy({ host, port }: Target, address?: string): string {
  const name = usualPorts.includes(port) ? host : `${host}:${port}`;
  return `docker.egress: [${address ? `{host: "${name}", address: "${address}"}` : name}]`;
}

function clausesOf(rule: EgressRule): Clause[] {
  if (typeof rule !== "string") return [{ ...clauseOf(rule.host), address: rule.address }];
  return (presets[rule] ?? [rule]).map(clauseOf);
}

function clauseOf(text: string): Clause {
  const [name = "", port] = text.toLowerCase().split(":");
  const anyBelow = name.startsWith("*.");
  const host = anyBelow ? name.slice("*.".length) : name;
  if (!isName(host)) throw new Error(`not the name of a host: ${text}`);
  return { host, anyBelow, ports: port === undefined ? usualPorts : [Number(port)] };
}

function fits({ host, anyBelow, ports }: Clause, target: Target): boolean {
  if (!ports.includes(target.port)) return false;
  return anyBelow ? target.host.endsWith(`.${host}`) : target.host === host;
}
