import { expect, test } from "vitest";
import type { ContainerEnd } from "../../packages/core/src/docker/container-manager.ts";
import { classifyOutcome } from "../../packages/core/src/runner/execution/classify-outcome.ts";
import { type Evidence, emptyEvidence } from "../../packages/core/src/runner/execution/evidence.ts";

const exited = (code: number, oomKilled = false): ContainerEnd => ({
  kind: "exited",
  code,
  oomKilled,
});

const cases: [what: string, end: ContainerEnd, stderr: string, code: string, message: RegExp][] = [
  ["a removed container", { kind: "removed" }, "", "interrupted", /removed during the run/],
  ["an engine that came back", { kind: "engine_restarted" }, "", "interrupted", /restarted/],
  [
    "an engine that stayed away",
    { kind: "engine_gone" },
    "",
    "docker_unavailable",
    /engine stopped/,
  ],
  ["a lack of memory", exited(137, true), "", "oom_killed", /memory/],
  ["a kill from outside", exited(137), "", "runtime_crashed", /SIGKILL, not by herdctl/],
  ["a failed set-up", exited(125), "no such user\nmore", "config_error", /^no such user$/],
  ["an image without claude", exited(127), "not found", "runtime_missing", /not found/],
  ["a claude that cannot run", exited(126), "", "runtime_missing", /./],
];

test.each(cases)("reports %s in the outcome", (_what, end, stderr, code, message) => {
  const outcome = classifyOutcome(evidenceOf(end, stderr));
  expect(outcome.code).toBe(code);
  expect(outcome.message).toMatch(message);
});

test("adds nothing for a container that ended with its program", () => {
  for (const end of [exited(1), exited(125)]) {
    const { code } = classifyOutcome(evidenceOf(end, ""));
    expect(code).toBe(
      classifyOutcome({ ...emptyEvidence(), exit: { code: 1, signal: null } }).code,
    );
  }
});

function evidenceOf(end: ContainerEnd, stderr: string): Evidence {
  const exit = { code: 1, signal: null };
  return { ...emptyEvidence(), stderr, exit, container: { id: "c", end } };
}
