import type { Found } from "./search.ts";

type TryResult = "reached" | "stopped" | "untried";

/** A way out that was tried: `TCP 1.1.1.1:443`. */
export interface Try {
  name: string;
  result: TryResult;
  detail: string;
}

/** What the self-test saw in a container. */
export interface Observed {
  facts: ReadonlyMap<string, string>;
  tries: readonly Try[];
  /** Environment and arguments of every process, by their path below `/proc`. */
  processes: ReadonlyMap<string, string>;
  /** It came to its end. */
  complete: boolean;
}

/** Everything from both sides, ready to be judged. */
export interface Evidence {
  observed: Observed;
  found: readonly Found[];
  files: number;
  /** Addresses of this machine at which something from the container arrived. */
  arrived: readonly string[];
  /** What the container's own doors refused, as the runner saw it. */
  refused: readonly string[];
}

const results = new Set<string>(["reached", "stopped", "untried"]);

/** The lines of the script `self-test`: what, name and value, with tabs between them. */
export function readObserved(text: string): Observed {
  const rows = text.split("\n").map((line) => line.split("\t"));
  const named = (kind: string) =>
    new Map(
      rows.flatMap(([what, name = "", value = ""]) => (what === kind ? [[name, value]] : [])),
    );
  const tries = rows.flatMap(([what = "", name = "", detail = ""]) =>
    isResult(what) ? [{ name, result: what, detail }] : [],
  );
  return {
    facts: named("fact"),
    processes: named("process"),
    tries,
    complete: named("done").size > 0,
  };
}

function isResult(text: string): text is TryResult {
  return results.has(text);
}
