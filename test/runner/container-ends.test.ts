import { expect, test } from "vitest";
import { classify } from "../../packages/core/src/runner/classify.ts";
import type { ContainerEnd } from "../../packages/core/src/runner/container/container-end.ts";
import { type Evidence, noEvidence } from "../../packages/core/src/runner/evidence.ts";

const exited = (code: number, oomKilled = false): ContainerEnd => ({
  kind: "exited",
  code,
  oomKilled,
});

const cases: [what: string, end: ContainerEnd, stderr: string, code: string, message: RegExp][] = [
  ["somebody removed it", { kind: "removed" }, "", "interrupted", /removed under the run/],
  ["the engine came back", { kind: "engine_restarted" }, "", "interrupted", /restarted/],
  ["the engine did not", { kind: "engine_gone" }, "", "docker_unavailable", /went away/],
  ["it had no more memory", exited(137, true), "", "oom_killed", /memory/],
  ["it was killed from outside", exited(137), "", "runtime_crashed", /SIGKILL, and not by herdctl/],
  ["it could not be set up", exited(125), "no such user\nmore", "config_error", /^no such user$/],
  ["there is no claude in it", exited(127), "not found", "runtime_missing", /not found/],
  ["claude cannot run in it", exited(126), "", "runtime_missing", /./],
];

test.each(cases)("%s: an outcome that says so", (_what, end, stderr, code, message) => {
  const outcome = classify(seen(end, stderr));
  expect(outcome.code).toBe(code);
  expect(outcome.message).toMatch(message);
});

test("a container that only ended with its program says nothing of its own", () => {
  for (const end of [exited(1), exited(125)]) {
    const { code } = classify(seen(end, ""));
    expect(code).toBe(classify({ ...noEvidence(), exit: { code: 1, signal: null } }).code);
  }
});

function seen(end: ContainerEnd, stderr: string): Evidence {
  const exit = { code: 1, signal: null };
  return { ...noEvidence(), stderr, exit, container: { id: "c", end } };
}
