import type { Fleet } from "../../config/load.ts";
import type { Problem } from "../../document/problem.ts";
import { type Finding, failed, ok, unknown } from "../check.ts";
import type { SetUp } from "../set-up.ts";

const name = "configuration";

export function judgeConfiguration(setUp: SetUp): Finding[] {
  if (setUp.kind === "none") {
    return [unknown(name, "There is no fleet here.", "Begin one with `herdctl init`.")];
  }
  if (setUp.kind === "refused") return [failed(name, `${setUp.message}.`, setUp.hint)];
  if (setUp.kind === "loaded")
    return [ok(name, `${setUp.loaded.fleet.file}: ${sizeOf(setUp.loaded.fleet)}.`)];
  return setUp.problems.map(asFinding);
}

function asFinding({ file, line, column, path, message, hint }: Problem): Finding {
  const what = path === "" ? message : `${path}: ${message}`;
  return { ...failed(name, `${what}.`, hint), place: `${file}:${line}:${column}` };
}

function sizeOf({ agents }: Fleet): string {
  const schedules = agents.flatMap((agent) => Object.keys(agent.schedules)).length;
  return `${count(agents.length, "agent")}, ${count(schedules, "schedule")}`;
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}
