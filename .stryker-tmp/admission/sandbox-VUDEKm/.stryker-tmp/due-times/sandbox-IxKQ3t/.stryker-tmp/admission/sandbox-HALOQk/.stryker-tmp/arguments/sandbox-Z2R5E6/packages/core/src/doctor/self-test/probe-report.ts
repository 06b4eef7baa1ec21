import type { SecretMatch } from "./find-secrets.ts";

type ProbeResult = "reached" | "stopped" | "untried";

/** A connection that was tried, such as `TCP 1.1.1.1:443`. */
export interface NetworkProbe {
  name: string;
  result: ProbeResult;
  detail: string;
}

/** The result of the self-test script in a container. */
export interface ProbeReport {
  facts: ReadonlyMap<string, string>;
  probes: readonly NetworkProbe[];
  /** Environment and arguments of every process, by path in `/proc`. */
  processes: ReadonlyMap<string, string>;
  /** The script ran to its end. */
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
