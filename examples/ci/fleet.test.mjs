// Run by `herdctl rehearse rehearsal.yaml -- node --test`: whatever `claude` asks of the model is
// answered by the script. Rules, tools, reports and hooks are the real ones.
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

test("a command is denied, whatever the model wants", () => {
  const job = herdctl("trigger", "scribe", "-p", "[[tag:forbidden]]");
  assert.equal(job.outcome.code, "finished_with_denials");
});

test("a model that is overloaded for a moment does not matter", () => {
  const job = herdctl("trigger", "scribe", "-p", "[[tag:overloaded]]");
  assert.equal(job.outcome.code, "success");
});
