// Run with `herdctl rehearse rehearsal.yaml -- node --test`. The script answers the requests of
// `claude` to the model. Rules, tools, reports and hooks are real.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { test } from "node:test";

const herdctl = (...args) => JSON.parse(spawnSync("herdctl", [...args, "--json"]).stdout);

test("the weekly run writes the news, reports, and the hook gets the report", () => {
  rmSync("last-run.json", { force: true });
  const job = herdctl("trigger", "scribe", "--schedule", "weekly");
  assert.equal(job.outcome.code, "success");
  assert.deepEqual(job.report, { entries: 2 });
  assert.match(readFileSync("notes/NEWS.md", "utf8"), /twice as fast/);
  assert.equal(JSON.parse(readFileSync("last-run.json", "utf8")).job.report.entries, 2);
});

test("a forbidden command is denied", () => {
  const job = herdctl("trigger", "scribe", "-p", "[[tag:forbidden]]");
  assert.equal(job.outcome.code, "finished_with_denials");
});

test("a job succeeds although the API is overloaded at first", () => {
  const job = herdctl("trigger", "scribe", "-p", "[[tag:overloaded]]");
  assert.equal(job.outcome.code, "success");
});
