import { readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openFleetLog } from "@herdctl/core/internal";
import { expect, test } from "vitest";
import { tempFolderWith } from "../support/temp-folder.ts";

const linesOf = (file: string) =>
  readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

test("writes events as JSON lines to a file that only the owner can read", () => {
  const folder = join(tempFolderWith({}), "logs");
  const log = openFleetLog({ folder, environment: {} });
  log.info("started", { agents: 3 });
  const at = "2026-03-01T09:00:00.000Z";
  log.event({ type: "agent:paused", agent: "coder", reason: "billing", at });
  log.error("it broke", new Error("the story"));
  log.close();
  const file = join(folder, "fleet.log");
  expect(linesOf(file)).toEqual([
    expect.objectContaining({ level: 30, msg: "started", agents: 3, pid: process.pid }),
    expect.objectContaining({ level: 40, msg: "agent:paused", agent: "coder", reason: "billing" }),
    expect.objectContaining({ level: 50, msg: "it broke" }),
  ]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("writes no secrets in any field", () => {
  const folder = tempFolderWith({});
  const environment = { GITHUB_TOKEN: 'made-up "token"', SHORT_KEY: "ab", PATH: "/usr/bin:/bin" };
  const log = openFleetLog({ folder, environment });
  log.info('made-up "token" of ab in /usr/bin:/bin', { deep: { inside: 'made-up "token"' } });
  log.error("failed", new Error(`with ${["sk", "ant", "made-up-by-us"].join("-")}`));
  log.close();
  const text = readFileSync(join(folder, "fleet.log"), "utf8");
  expect(text).not.toMatch(/made-up/);
  expect(linesOf(join(folder, "fleet.log"))[0].msg).toBe("[hidden] of ab in /usr/bin:/bin");
});

test("masks the address and the password of a shared store in any variable", () => {
  const folder = tempFolderWith({});
  const environment = {
    HERDCTL_STORE: "postgres://herd@db.example.org/herd",
    DATABASE: "postgres://herd:made%20up%20word@db.example.org/herd",
  };
  const log = openFleetLog({ folder, environment });
  log.info(`${environment.HERDCTL_STORE} and ${environment.DATABASE}`);
  log.error("failed", new Error("no entry with made%20up%20word, that is: made up word"));
  log.close();
  const text = readFileSync(join(folder, "fleet.log"), "utf8");
  expect(text).not.toMatch(/made|example/);
  expect(linesOf(join(folder, "fleet.log"))[0].msg).toBe("[hidden] and [hidden]");
});

test("rotates a full log and yesterday's, and keeps a limited number", () => {
  const folder = tempFolderWith({ "fleet.log": "yesterday\n" });
  const yesterday = new Date(Date.now() - 24 * 3_600_000);
  utimesSync(join(folder, "fleet.log"), yesterday, yesterday);
  const log = openFleetLog({ folder, environment: {}, maxBytes: 300 });
  log.info("today");
  expect(readFileSync(join(folder, "fleet.log.1"), "utf8")).toBe("yesterday\n");
  for (let count = 0; count < 60; count += 1) log.info("x".repeat(100));
  log.close();
  expect(readdirSync(folder)).toHaveLength(8);
  const sizes = readdirSync(folder).map((name) => statSync(join(folder, name)).size);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(300);
});

test("continues when the log cannot be written", () => {
  const folder = join(tempFolderWith({}), "logs");
  writeFileSync(folder, "a file where the folder should be");
  const log = openFleetLog({ folder, environment: {} });
  log.info("lost");
  log.close();
  expect(readFileSync(folder, "utf8")).toBe("a file where the folder should be");
});
